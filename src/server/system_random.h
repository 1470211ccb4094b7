// Chance from the operating system, for secrets. Safe to share between threads.
#pragma once

#include "base/random.h"

namespace sluice::server {

class SystemRandom : public Random {
 public:
  uint64_t next() override;
};

}  // namespace sluice::server
