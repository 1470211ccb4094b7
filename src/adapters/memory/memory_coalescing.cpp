#include "adapters/memory/memory_coalescing.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::memory {

using coordination::FetchAnswer;
using coordination::FetchRequest;
using coordination::RefreshAnswer;
using coordination::RefreshRequest;
using coordination::Version;

MemoryCoalescing::MemoryCoalescing(coordination::CoalescingPlan plan, coordination::RunFloor run, Clock& clock,
                                   size_t most_items)
    : plan_(std::move(plan)), run_(run), clock_(clock), most_items_(std::max<size_t>(1, most_items)) {}

Task<RefreshAnswer> MemoryCoalescing::request(RefreshRequest request) {
  check_that(request.lane < plan_.lanes.size(), "lane {} of {}", request.lane, plan_.lanes.size());
  const std::scoped_lock lock(mutex_);
  const Time now = clock_.wall();
  const Version at_least = coordination::next_version(issued_, coordination::clock_version(now), run_);
  RefreshAnswer answer = use(request.item).request(request, plan_, at_least, now);
  issued_ = std::max(issued_, answer.message.version);
  co_return answer;
}

Task<bool> MemoryCoalescing::unpublish(std::string item, RefreshAnswer answer) {
  const std::scoped_lock lock(mutex_);
  co_return use(item).unpublish(answer);
}

Task<FetchAnswer> MemoryCoalescing::look(FetchRequest request) {
  const std::scoped_lock lock(mutex_);
  co_return use(request.item).look(request, plan_, clock_.wall());
}

Task<FetchAnswer> MemoryCoalescing::begin(FetchRequest request) {
  check_that(request.lane < plan_.lanes.size(), "lane {} of {}", request.lane, plan_.lanes.size());
  const std::scoped_lock lock(mutex_);
  co_return use(request.item).begin(request, plan_, clock_.wall());
}

Task<> MemoryCoalescing::finish(std::string item, std::string owner, Version covers) {
  const std::scoped_lock lock(mutex_);
  use(item).finish(owner, covers);
  co_return;
}

Task<> MemoryCoalescing::abandon(std::string item, std::string owner, std::optional<Version> given_up) {
  const std::scoped_lock lock(mutex_);
  use(item).abandon(owner, given_up);
  co_return;
}

size_t MemoryCoalescing::items() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

coordination::CoalescingItem& MemoryCoalescing::use(const std::string& item) {
  const Instant now = clock_.now();
  while (!entries_.empty() && entries_.front().used + entries_.front().state.keep(plan_) <= now) forget_oldest();
  const auto found = by_item_.find(item);
  if (found != by_item_.end()) {
    entries_.splice(entries_.end(), entries_, found->second);
  } else {
    if (entries_.size() == most_items_) forget_oldest();
    entries_.push_back({item, {}, now});
    by_item_.emplace(entries_.back().item, std::prev(entries_.end()));
  }
  entries_.back().used = now;
  return entries_.back().state;
}

void MemoryCoalescing::forget_oldest() {
  by_item_.erase(entries_.front().item);
  entries_.pop_front();
}

}  // namespace sluice::memory
