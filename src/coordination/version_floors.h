// Versions that never repeat and never go back, even if their issuer has lost its state.
//
// A version is the issuing engine's clock in microseconds, or one more than the last if that is higher. That holds for
// as long as the engine keeps its state or its clock moves forward. It does not when another engine takes over whose
// clock is behind: so every run of an engine (a start, a promotion to master) has a floor, which the database hands out
// once per run, above every version that an earlier run can have issued.
//
// A run begins a minute ahead of the clock and then goes at half the clock's speed until the clock has caught up, some
// three minutes later. It never stands still meanwhile: so a version is new by the clock alone, and the engine may be
// wiped at any time.
//
// Outside the promise: an engine whose clock differs from the database's by a minute or more, and an engine that is
// wiped while its clock steps back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

// Microseconds since 1970 and more: below 2^53, up to which scripts can count, for two hundred years. Readers of
// external input refuse values that are not between 0 and that.
using Version = int64_t;

inline constexpr Version highest_version = (Version{1} << 53) - 1;

inline Version clock_version(Time now) {
  return now.time_since_epoch().count();
}

// How far clocks may be apart.
inline constexpr Duration version_skew = 60s;

// One run of an engine issues only versions above this, from its beginning.
struct RunFloor {
  Version floor = 0;
  Version began = 0;  // before the first moment of the run on any clock

  Version at(Version now) const { return floor + std::max<Version>(0, (now - began) / 2); }
  bool operator==(const RunFloor&) const = default;
};

// The next version after `last`, which is 0 where nothing is known.
inline Version next_version(Version last, Version now, const RunFloor& run) {
  return std::max({last + 1, now, run.at(now)});
}

// Stores the floors.
//
// Every implementation passes tests/contract/version_floors_contract.cpp.
class VersionFloors {
 public:
  virtual ~VersionFloors() = default;

  // The floor of a run, the same for all callers and forever. A new run gets one above all versions that earlier runs
  // can have issued by now, so it is requested before the run issues its first.
  virtual Task<RunFloor> floor_of(std::string run) = 0;
};

}  // namespace sluice::coordination
