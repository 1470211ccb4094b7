// A time zone by its name, "Asia/Seoul": how far its clocks are from UTC at any time.
//
// Read from the system's zone files (TZif, RFC 8536), since our standard library has no zones yet. Behind the last
// change that a file lists its rule for all further years counts, where that is in the usual form (M3.2.0).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace sluice {

// Unchanged once made; copies are cheap enough for settings.
class TimeZone {
 public:
  // Reads the zone's file; nothing if there is none. "UTC" needs no file.
  static std::optional<TimeZone> find(const std::string& name);
  // Parses the bytes of a file; nothing if it is not a TZif file of version 2 or later.
  static std::optional<TimeZone> parse(std::string_view file);

  std::chrono::seconds offset_at(Time time) const;

 private:
  struct Change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;  // from then on
  };
  // The nth weekday of a month, at a time of the day.
  struct YearlyDay {
    unsigned month = 1;
    unsigned week = 1;  // 5: the last
    unsigned weekday = 0;
    std::chrono::seconds time = std::chrono::hours(2);

    std::chrono::sys_seconds in(std::chrono::year year, std::chrono::seconds offset) const;
  };
  struct Rule {
    std::chrono::seconds standard{0};
    std::chrono::seconds summer{0};
    std::optional<std::pair<YearlyDay, YearlyDay>> summer_time{};  // from, until
  };
  class RuleReader;

  std::chrono::seconds first_{0};  // before any change
  std::vector<Change> changes_;
  std::optional<Rule> rule_;
};

}  // namespace sluice
