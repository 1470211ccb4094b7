#include "coordination/coalescing_item.h"

#include <algorithm>
#include <utility>

namespace sluice::coordination {

RefreshAnswer CoalescingItem::request(const RefreshRequest& request, const CoalescingPlan& plan, Version at_least,
                                      Time now) {
  satisfy(request.row);
  if (running_for(plan, now) > Duration{0}) return {RefreshOutcome::already, {request.lane, issued_, now}, {}};

  const bool overtakes = waiting_ && request.lane < waiting_->lane;
  if (waiting_ && !overtakes) {
    // A message from the future is of a clock that was set back, and would wait for ever.
    const Duration waited = now - waiting_->since;
    patience_ = plan.patience(waiting_->lane, request.lags);
    const bool lost = waited < Duration{0} || waited > patience_;
    if (!lost) return {RefreshOutcome::already, *waiting_, {}};
    return publish(RefreshOutcome::repeated, {waiting_->lane, waiting_->version, now});
  }
  issued_ = std::max({issued_ + 1, done_ + 1, at_least});
  patience_ = plan.patience(request.lane, request.lags);
  const RefreshOutcome outcome = overtakes ? RefreshOutcome::upgraded : RefreshOutcome::published;
  return publish(outcome, {request.lane, issued_, now});
}

RefreshAnswer CoalescingItem::publish(RefreshOutcome outcome, WaitingMessage message) {
  const std::optional<WaitingMessage> before = std::exchange(waiting_, message);
  return {outcome, message, before};
}

bool CoalescingItem::unpublish(const RefreshAnswer& answer) {
  if (waiting_ != answer.message) return false;
  waiting_ = answer.before;
  satisfy(done_);
  return true;
}

FetchAnswer CoalescingItem::look(const FetchRequest& request, const CoalescingPlan& plan, Time now) {
  satisfy(request.row);
  if (done_ >= request.version) return {.outcome = FetchOutcome::obsolete};
  const Duration left = running_for(plan, now);
  if (left > Duration{0} && owner_ != request.owner) return {.outcome = FetchOutcome::busy, .busy_for = left};
  return {.outcome = FetchOutcome::run, .covers = std::max(issued_, request.version)};
}

FetchAnswer CoalescingItem::begin(const FetchRequest& request, const CoalescingPlan& plan, Time now) {
  const FetchAnswer answer = look(request, plan, now);
  if (answer.outcome != FetchOutcome::run) return answer;
  issued_ = answer.covers;
  owner_ = request.owner;
  until_ = now + plan.lanes.at(request.lane).lease;
  return answer;
}

void CoalescingItem::finish(const std::string& owner, Version covers) {
  issued_ = std::max(issued_, covers);
  satisfy(covers);
  if (owner_ == owner) owner_.clear();
}

void CoalescingItem::abandon(const std::string& owner, std::optional<Version> given_up) {
  if (owner_ == owner) owner_.clear();
  if (waiting_ && waiting_->version == given_up) waiting_.reset();
}

Duration CoalescingItem::keep(const CoalescingPlan& plan) const {
  return waiting_ ? std::max(plan.keep, patience_) : plan.keep;
}

// Also on being told the row's version: where the end of a fetch was lost from here, a message that waits for nothing
// would otherwise be repeated and skipped for ever.
void CoalescingItem::satisfy(Version version) {
  done_ = std::max(done_, version);
  if (waiting_ && waiting_->version <= done_) waiting_.reset();
}

Duration CoalescingItem::running_for(const CoalescingPlan& plan, Time now) const {
  if (owner_.empty() || until_ <= now) return Duration{0};
  const Duration left = until_ - now;
  return left <= plan.longest_lease() ? left : Duration{0};  // longer: the clock was set back
}

}  // namespace sluice::coordination
