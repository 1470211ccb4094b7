// How much of a day's budget may be spent by now.
//
// The budget without its reserve grows evenly over the day, so that it lasts until the evening; the reserve is there
// from the first moment, for those who may touch it. The day is the calendar day of whoever counts. What passed of a
// day before anything was known of it counts as spent.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "coordination/limit_plan.h"

namespace sluice::coordination {

// What is remembered of a day's budget.
struct DaySpent {
  int64_t day = 0;  // days since 1970 on the calendar of whoever counts
  int64_t permits = 0;
};

class DayPace {
 public:
  // `spent` is what is remembered, if anything is. A day that is over is forgotten; the calendar never goes back.
  DayPace(const LimitDay& day, std::optional<DaySpent> spent, Time now);

  const DaySpent& spent() const { return spent_; }
  void take(int64_t permits) { spent_.permits += permits; }

  // What may be spent at this moment.
  int64_t room(bool may_use_reserve) const;
  // What may be spent from this moment to the end of the day, at most.
  int64_t left(bool may_use_reserve) const;
  // Not before this time from now is there room for `permits`; at the latest until the next day.
  Duration wait_for(int64_t permits, bool may_use_reserve) const;
  // What is left of the day itself.
  Duration rest() const { return std::chrono::days(1) - passed_; }

 private:
  int64_t most_;
  int64_t reserve_;
  DaySpent spent_;
  Duration passed_{0};  // of the day
};

}  // namespace sluice::coordination
