#include "coordination/crowd.h"

#include <boost/asio/post.hpp>

namespace sluice::coordination {
namespace {

// Executors of one loop may differ in their properties, but not in their context.
asio::execution_context& loop_of(const Executor& executor) {
  return asio::query(executor, asio::execution::context);
}

}  // namespace

std::shared_ptr<Crowd::Party> Crowd::join(const Executor& here) {
  const std::lock_guard lock(mutex_);
  if (over_) return nullptr;
  for (const auto& [executor, party] : parties_) {
    if (&loop_of(executor) == &loop_of(here)) return party;
  }
  return parties_.emplace_back(here, std::make_shared<Party>(here)).second;
}

void Crowd::stir() {
  const std::lock_guard lock(mutex_);
  for (const auto& [executor, party] : parties_) {
    asio::post(executor, [party] { party->told.notify_all(); });
  }
}

void Crowd::end() {
  Parties parties;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    parties.swap(parties_);
  }
  for (auto& [executor, party] : parties) {
    asio::post(executor, [waiting = std::move(party)] {
      waiting->over = true;
      waiting->told.notify_all();
    });
  }
}

bool Crowd::over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

}  // namespace sluice::coordination
