#include "coordination/day_accounts.h"

#include <algorithm>
#include <limits>

namespace sluice::coordination {

DayAccounts::DayAccounts(const LimitPlan& plan, size_t priority, const std::vector<std::optional<DaySpent>>& stored,
                         Time now)
    : may_use_reserve_(plan.priority[priority].may_use_reserve) {
  const std::vector<size_t> days = plan.days_of(priority);
  for (size_t i = 0; i < days.size(); ++i) paces_.emplace_back(plan.day[days[i]], stored[i], now);
}

Result<DayChunk, Duration> DayAccounts::take(int64_t least, int64_t most) {
  const int64_t enough = std::clamp<int64_t>(left(), 1, least);
  const int64_t given = std::min(most, room());
  if (given < enough) return wait_for(enough);
  for (DayPace& pace : paces_) pace.take(given);
  return DayChunk{given, rest()};
}

std::vector<DaySpent> DayAccounts::spent() const {
  std::vector<DaySpent> all;
  for (const DayPace& pace : paces_) all.push_back(pace.spent());
  return all;
}

int64_t DayAccounts::room() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const DayPace& pace : paces_) least = std::min(least, pace.room(may_use_reserve_));
  return least;
}

int64_t DayAccounts::left() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const DayPace& pace : paces_) least = std::min(least, pace.left(may_use_reserve_));
  return least;
}

Duration DayAccounts::wait_for(int64_t permits) const {
  Duration longest{0};
  for (const DayPace& pace : paces_) longest = std::max(longest, pace.wait_for(permits, may_use_reserve_));
  return longest;
}

Duration DayAccounts::rest() const {
  Duration shortest = Duration::max();
  for (const DayPace& pace : paces_) shortest = std::min(shortest, pace.rest());
  return shortest;
}

}  // namespace sluice::coordination
