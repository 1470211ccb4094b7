#include "coordination/limit_state.h"

#include "base/check.h"

namespace sluice::coordination {

LimitState::LimitState(std::shared_ptr<const LimitPlan> plan, Stamp now) : plan_(std::move(plan)) {
  for (const LimitWindow& window : plan_->window) rings_.emplace_back(window.most, plan_->span(window), now);
  for (size_t i = 0; i < plan_->priority.size(); ++i) {
    accounts_.push_back({.rings = plan_->windows_of(i),
                         .betters = plan_->betters_of(i),
                         .most_at_once = plan_->most_at_once(i),
                         .has_days = !plan_->priority[i].days.empty(),
                         .credit = {}});
    for (const size_t better : accounts_.back().betters) accounts_[better].keeps_back = true;
  }
}

Drawn LimitState::decide(size_t priority, int64_t least, int64_t most, Stamp now) {
  Account& account = accounts_[priority];
  int64_t given = most;
  for (const size_t at : account.rings) {
    rings_[at].turn_to(now);
    given = rings_[at].available(given, now);
  }
  const bool kept = kept_back(account, now) > 0us;
  const bool refused = kept || given < least;
  // A request for more than the plan ever allows leaves no mark.
  if (refused && account.keeps_back && least <= account.most_at_once) account.wanted_until = now + wanted_for.count();
  int64_t credit = 0;
  if (account.has_days) {
    credit = now < account.credit.until ? account.credit.permits : 0;
    given = std::min(given, credit);
  }
  if (kept || given < least) return refuse(account, least, credit, now);
  for (const size_t at : account.rings) rings_[at].take(given, now);
  if (account.has_days) {
    credit -= given;
    account.credit.permits = credit;
  }
  return {.given = given, .stamp = now, .wait = {}, .lacks_credit = false, .credit = credit, .sent = {}};
}

Duration LimitState::kept_back(const Account& account, Stamp now) const {
  Duration longest{0};
  for (const size_t better : account.betters) {
    const Duration left{accounts_[better].wanted_until - now};
    if (left <= wanted_for) longest = std::max(longest, left);  // longer: the clock went back
  }
  return longest;
}

Drawn LimitState::refuse(const Account& account, int64_t least, int64_t credit, Stamp now) const {
  Duration wait = kept_back(account, now);
  for (const size_t at : account.rings) wait = std::max(wait, rings_[at].wait_for(least, now));
  return {.given = 0,
          .stamp = now,
          .wait = wait,
          .lacks_credit = account.has_days && credit < least,
          .credit = credit,
          .sent = {}};
}

void LimitState::deposit(size_t priority, int64_t permits, Duration lasts, Stamp now) {
  Credit& credit = accounts_.at(priority).credit;
  const Stamp until = now + lasts.count();
  // Chunks of one day end at slightly different times, because calls take time; another end means another day.
  const bool same_day = now < credit.until && until - credit.until < (1min / 1us);
  credit = {permits + (same_day ? credit.permits : 0), until};
}

std::vector<int64_t> LimitState::remaining(Stamp now) {
  std::vector<int64_t> all;
  for (LimitRing& ring : rings_) {
    ring.turn_to(now);
    all.push_back(ring.remaining(now));
  }
  return all;
}

}  // namespace sluice::coordination
