#include "documents/stranger_failures.h"

namespace sluice::documents {

void StrangerFailures::add(const std::string& path, Refused refused) {
  erase(path);
  drop_ended();
  if (oldest_first_.size() >= most_) drop(oldest_first_.begin());
  oldest_first_.push_back({path, refused, clock_.now() + kept_});
  by_path_.emplace(oldest_first_.back().path, std::prev(oldest_first_.end()));
}

std::optional<Refused> StrangerFailures::find(const std::string& path) {
  drop_ended();
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return std::nullopt;
  return found->second->refused;
}

void StrangerFailures::erase(const std::string& path) {
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second);
}

void StrangerFailures::drop_ended() {
  while (!oldest_first_.empty() && oldest_first_.front().until <= clock_.now()) drop(oldest_first_.begin());
}

void StrangerFailures::drop(Failures::iterator failure) {
  by_path_.erase(failure->path);
  oldest_first_.erase(failure);
}

}  // namespace sluice::documents
