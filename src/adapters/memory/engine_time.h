// Time, as an engine inside this process tells it.
//
// The calendar's when it is made, so that an end still means the same after a restart; from then on as fast as the
// steady clock, so that somebody who sets the computer's clock neither ends leases nor prolongs them.
#pragma once

#include "runtime/clock.h"

namespace sluice::memory {

class EngineTime {
 public:
  explicit EngineTime(const Clock& clock) : clock_(clock), start_(clock.wall()), began_(clock.now()) {}

  Time now() const { return start_ + std::chrono::floor<Duration>(clock_.now() - began_); }

 private:
  const Clock& clock_;
  Time start_;
  Instant began_;
};

}  // namespace sluice::memory
