#include "adapters/kafka/pending.h"

#include "adapters/kafka/publishing.h"

namespace sluice::kafka {

void Pending::count(size_t messages, size_t bytes) {
  messages_ += messages;
  bytes_ += bytes;
}

void Pending::forget(size_t messages, size_t bytes) {
  messages_ -= messages;
  bytes_ -= bytes;
}

Pending::Place Pending::enter(Publishing& call) {
  const std::lock_guard lock(mutex_);
  return calls_.insert(calls_.end(), &call);
}

void Pending::leave(Place place) {
  const std::lock_guard lock(mutex_);
  calls_.erase(place);
}

std::vector<std::shared_ptr<Publishing>> Pending::expire(Instant now) {
  std::vector<std::shared_ptr<Publishing>> late;
  std::vector<std::shared_ptr<Publishing>> looked_at;  // their end must not come under the mutex
  const std::lock_guard lock(mutex_);
  for (Publishing* each : calls_) {
    if (each->deadline() > now) break;
    auto call = each->weak_from_this().lock();
    if (!call) continue;  // its destructor waits for the mutex
    if (call->expire()) late.push_back(call);
    looked_at.push_back(std::move(call));
  }
  return late;
}

}  // namespace sluice::kafka
