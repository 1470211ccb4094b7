// The machine's clock. Only server/ and lab/ (and tests of real engines) name it.
#pragma once

#include "runtime/clock.h"

namespace sluice {

// Safe to share between threads.
class SystemClock : public Clock {
 public:
  Time wall() const override;
  Instant now() const override;
  Task<> sleep_until(Instant when) override;
};

}  // namespace sluice
