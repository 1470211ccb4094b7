// The configuration of one limit: how much may be requested of a scarce upstream, and in which priority.
//
// A window allows `most` permits in any interval of length `per`. A day allows `most` within the calendar day of the
// upstream (`utc_offset`), spread over the day, with a reserve for some priorities. A priority draws from several
// windows and days at once, all or nothing; earlier ones go first. Their number and names are configuration:
//
//   [[....window]]    name = "global"      most = 450         per = "1s"
//   [[....window]]    name = "burst"       most = 54          per = "100ms"
//   [[....window]]    name = "low"         most = 350         per = "1s"
//   [[....day]]       name = "global-day"  most = 20_000_000  reserve = 2_000_000  utc_offset = "+09:00"
//   [[....priority]]  name = "HIGH"        windows = ["global", "burst"]         days = ["global-day"]
//                     may_use_reserve = true
//   [[....priority]]  name = "LOW"         windows = ["global", "burst", "low"]  days = ["global-day"]
//
// A permit is void `permit_life` after it was requested, and a window is therefore kept over `per` + `permit_life`: two
// permits that are used within `per` were given within that. So 450 in 1s with 20ms make 441 a second. The short window
// spreads them, so that delayed and undelayed requests never add up to more than the upstream allows; its 54 in 100ms
// make 450 a second, and 50 would make only 417.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::coordination {

struct LimitWindow {
  std::string name;
  int64_t most = 1;
  Duration per = 1s;

  static void describe(config::Section<LimitWindow>& section);
};

struct LimitDay {
  std::string name;
  int64_t most = 1;
  int64_t reserve = 0;
  Duration utc_offset{0};  // offset of the upstream's clock from UTC

  static void describe(config::Section<LimitDay>& section);
};

struct LimitPriority {
  std::string name;
  std::vector<std::string> windows;
  std::vector<std::string> days{};
  bool may_use_reserve = false;

  static void describe(config::Section<LimitPriority>& section);
};

struct LimitPlan {
  std::string name{};  // given by the owner of the plan; equal names share one limit
  Duration permit_life = 20ms;
  std::vector<LimitWindow> window{};
  std::vector<LimitDay> day{};
  std::vector<LimitPriority> priority{};

  static void describe(config::Section<LimitPlan>& section);
  // Numbers that cannot fit are refused, with the arithmetic.
  void validate(config::Problems& problems) const;

  // Positions in `window` and `day` that a priority draws from. The plan must be valid.
  std::vector<size_t> windows_of(size_t priority_index) const;
  std::vector<size_t> days_of(size_t priority_index) const;
  std::optional<size_t> find_priority(std::string_view priority_name) const;
  // Priorities before this one that draw from one of its windows: they go first.
  std::vector<size_t> betters_of(size_t priority_index) const;

  // The interval over which a window is kept.
  Duration span(const LimitWindow& one) const { return one.per + permit_life; }
  // The most permits a second that the windows give to this priority for long, alone and without days.
  double per_second(size_t priority_index) const;
  // The most permits that one draw can ever give to it.
  int64_t most_at_once(size_t priority_index) const;
};

}  // namespace sluice::coordination
