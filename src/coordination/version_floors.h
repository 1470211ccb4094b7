// Versions that never repeat and never go back, also when what issued them has lost its memory.
//
// A version is the issuing engine's clock in microseconds, or one more than the last where that is higher. That holds
// for as long as the engine remembers or its clock goes on. It does not when another engine takes over whose clock is
// behind: so every run of an engine (a start, a promotion to master) has a floor, which the database hands out once per
// run, above whatever an earlier run can have issued.
//
// A run begins a minute ahead of the clock and then goes at half the clock's speed until the clock has caught up, some
// three minutes later. It never stands still meanwhile: so a version is new by the clock alone, and the engine may be
// wiped at any time.
//
// Outside the promise: an engine whose clock is a minute or more away from the database's, and an engine that is wiped
// while its clock steps back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

// Microseconds since 1970 and some: below 2^53, which scripts can count up to, for two hundred years. Whoever reads one
// from outside refuses what is not between 0 and that.
using Version = int64_t;

inline constexpr Version highest_version = (Version{1} << 53) - 1;

inline Version clock_version(Time now) {
  return now.time_since_epoch().count();
}

// How far clocks may be apart.
inline constexpr Duration version_skew = 60s;

// What one run of an engine issues is higher than this, from when it began.
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

// Where the floors are kept.
//
// Every implementation passes tests/contract/version_floors_contract.h.
class VersionFloors {
 public:
  virtual ~VersionFloors() = default;

  // The floor of a run, the same for everybody who asks and for ever. A run nobody has asked for before gets one above
  // all versions that earlier runs can have issued by now, so it is asked for before the run issues its first.
  virtual Task<RunFloor> floor_of(std::string run) = 0;
};

}  // namespace sluice::coordination
