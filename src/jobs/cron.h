// When something recurs: "30 3 * * 1-5" (minute, hour, day of the month, month, weekday), in a time zone.
//
// A field is *, a number, a range 1-5, a step */15 or 10-50/10, or several with commas; months and weekdays also have
// names (jan, mon); Sunday is 0 or 7. As usual, if both days are given either is enough. When clocks are set forward,
// times that do not exist that day are skipped; when they are set back, a time of certain hours (*/2, 1-5) counts once
// (its first), while one of every hour (*, 0-23) repeats.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/time_zone.h"

namespace sluice::jobs {

class Cron {
 public:
  // Nothing where it is not of that form.
  static std::optional<Cron> parse(std::string_view text);

  // Whether any day fits at all: none does for "0 0 30 2 *".
  bool ever_fires() const;
  // The first time behind `after`; nothing where none comes in five years.
  std::optional<Time> next(Time after, const TimeZone& zone) const;

 private:
  using Set = std::bitset<64>;

  bool holds_on(std::chrono::sys_days day) const;
  bool repeats(Time time, const TimeZone& zone) const;

  Set minutes_;
  Set hours_;
  Set days_;
  Set months_;
  Set weekdays_;
  bool every_hour_ = false;
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace sluice::jobs
