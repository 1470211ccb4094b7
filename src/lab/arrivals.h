// When requests are meant to start.
//
// Open loop: request i is scheduled for start + (i + phase) / rate (or where a ramp has come to i + phase), whether or
// not the server keeps up. Late requests are still measured from that moment, so a stall costs every request that
// should have started in it, not only the one that met it (no coordinated omission). Closed loop: a request is
// scheduled for the moment a connection is free.
#pragma once

#include <cstdint>
#include <optional>

#include "lab/load_options.h"
#include "lab/ramp.h"

namespace sluice::lab {

class Arrivals {
 public:
  struct Plan {
    std::optional<double> rate{};  // a second; without it, and without a ramp: closed loop
    Ramp ramp{};                   // in place of a rate
    double phase = 0;              // of an interval, so that several of one rate interleave
    SteadyTime start{};
    Duration duration{};
    uint64_t limit = 0;  // 0: none
  };

  explicit Arrivals(const Plan& plan);

  // The scheduled start of the next request, if it is not after `now`.
  std::optional<SteadyTime> due(SteadyTime now) const;
  void take() { ++taken_; }

  // When to look again; nothing where no more will come.
  std::optional<SteadyTime> next(SteadyTime now) const;
  bool ended(SteadyTime now) const { return !next(now); }

  uint64_t taken() const { return taken_; }
  // How many are due and not taken.
  uint64_t backlog(SteadyTime now) const;

 private:
  bool is_open() const { return plan_.rate || !plan_.ramp.empty(); }
  SteadyTime intended(uint64_t i) const;

  Plan plan_;
  uint64_t total_;
  uint64_t taken_ = 0;
};

}  // namespace sluice::lab
