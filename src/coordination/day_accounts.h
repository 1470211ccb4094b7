// The days of one priority of a limit, as they stand at one moment.
//
// A chunk is taken from all of them or from none. DayBudgets reads their stored state, asks here, and writes it back.
#pragma once

#include <optional>
#include <vector>

#include "coordination/day_budgets.h"
#include "coordination/day_pace.h"

namespace sluice::coordination {

class DayAccounts {
 public:
  // `stored` is the state of each of `plan.days_of(priority)`, in that order; nothing for a day never seen before.
  DayAccounts(const LimitPlan& plan, size_t priority, const std::vector<std::optional<DaySpent>>& stored, Time now);

  // As DayBudgets::take.
  Result<DayChunk, Duration> take(int64_t least, int64_t most);

  // The state to store, in the same order. Also when nothing was taken: what counts as spent at the first sight of a
  // day must be remembered.
  std::vector<DaySpent> spent() const;

 private:
  int64_t room() const;
  int64_t left() const;
  Duration wait_for(int64_t permits) const;
  Duration rest() const;

  std::vector<DayPace> paces_;
  bool may_use_reserve_;
};

}  // namespace sluice::coordination
