// Time, as an engine inside this process tells it.
//
// Wall-clock time at its creation, so that an end keeps its meaning after a restart; from then on as fast as the steady
// clock, so that setting the computer's clock neither ends leases nor extends them.
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
