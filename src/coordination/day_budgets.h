// The days of one planned limit: kept in the database, given out in chunks.
//
// A day is too long to be kept in an engine that may lose its state, and permits are too many to be counted one by one
// in a database. So chunks of about a second's share are taken here, from all days of a priority or from none, and
// deposited as credit where the windows are (SharedLimit::deposit). A taken chunk is spent: one that is lost on its way
// is never taken again. coordination/day_accounts.h decides how much may be taken by now; time is the database's.
// Outside the promise: a difference between the clocks of the database and of the upstream that counts.
//
// Every implementation passes tests/contract/day_budgets_contract.cpp. Safe to use from any thread.
#pragma once

#include <vector>

#include "base/result.h"
#include "coordination/limit_plan.h"
#include "runtime/task.h"

namespace sluice::coordination {

struct DayChunk {
  int64_t permits = 0;
  Duration lasts{0};  // until the first of the days ends
};

class DayBudgets {
 public:
  virtual ~DayBudgets() = default;

  // At most `most` permits, and at least `least` or the rest of the day; or how long to wait for that.
  virtual Task<Result<DayChunk, Duration>> take(size_t priority, int64_t least, int64_t most) = 0;

  // The rest of each day of the plan, including its reserve. For display, not for decisions.
  virtual Task<std::vector<int64_t>> left() = 0;
};

}  // namespace sluice::coordination
