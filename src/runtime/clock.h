// Time, handed in.
//
// Code that needs the time or waits is given a Clock. The real one (runtime/system_clock.h) is named only in server/
// and lab/; tests and the simulation use VirtualClock (runtime/virtual_clock.h), where waiting costs nothing and every
// run is the same.
#pragma once

#include "base/time.h"
#include "runtime/task.h"

namespace sluice {

class Clock {
 public:
  virtual ~Clock() = default;

  // The calendar's time; may step. For records and people, never for waiting.
  virtual Time wall() const = 0;

  // Only grows. For deadlines, waits and measuring.
  virtual Instant now() const = 0;

  // Returns at or after `when`; at once if it has passed. Cancelled with the task that awaits it.
  virtual Task<> sleep_until(Instant when) = 0;

  Task<> sleep_for(Duration duration) { return sleep_until(now() + duration); }
};

}  // namespace sluice
