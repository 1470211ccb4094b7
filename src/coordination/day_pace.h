// How much of a day's budget may be spent by now.
//
// The budget without its reserve grows evenly over the day, so that it lasts until the evening; the reserve is
// available from the start, for priorities that may use it. The day is the calendar day of the upstream. The part of a
// day before the first record of it counts as spent.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "coordination/limit_plan.h"

namespace sluice::coordination {

// The stored state of a day's budget.
struct DaySpent {
  int64_t day = 0;  // days since 1970 on the upstream's calendar
  int64_t permits = 0;
};

class DayPace {
 public:
  // `spent` is the stored state, if any. A past day is forgotten; the calendar never goes back.
  DayPace(const LimitDay& day, std::optional<DaySpent> spent, Time now);

  const DaySpent& spent() const { return spent_; }
  void take(int64_t permits) { spent_.permits += permits; }

  // Permits that may be spent now.
  int64_t room(bool may_use_reserve) const;
  // Permits that may be spent from now to the end of the day, at most.
  int64_t left(bool may_use_reserve) const;
  // Not before this time from now is there room for `permits`; at the latest until the next day.
  Duration wait_for(int64_t permits, bool may_use_reserve) const;
  // Time left of the day.
  Duration rest() const { return std::chrono::days(1) - passed_; }

 private:
  int64_t most_;
  int64_t reserve_;
  DaySpent spent_;
  Duration passed_{0};  // of the day
};

}  // namespace sluice::coordination
