// Points in time, and how they are written.
//
// `Time` is wall-clock time in microseconds, the precision of the databases; `Instant` is monotonic, for deadlines and
// waits. Neither can be read here: code that needs the time is given a Clock (runtime/clock.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

using namespace std::chrono_literals;

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// The epoch of Instant is arbitrary and differs between processes.
struct Monotonic {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Monotonic, duration>;
  static constexpr bool is_steady = true;
};
using Instant = Monotonic::time_point;

// "2026-05-01T11:00:00.123Z": UTC, milliseconds, as in every answer.
std::string format_time(Time time);

// Parses the format of format_time, also with other fractions and offsets ("+09:00"). Nothing if the time is invalid.
std::optional<Time> parse_time(std::string_view text);

// "250ms", "10s", "5m", "2h", "30d": a whole number and its unit, as configuration is written.
std::string format_duration(Duration duration);
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace sluice
