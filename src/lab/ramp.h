// A rate that changes over time, in straight lines from stage to stage.
#pragma once

#include <vector>

#include "base/time.h"

namespace sluice::lab {

// From the rate of the stage before (0 before the first) to `rate` a second, within `duration`.
struct RampStage {
  Duration duration{};
  double rate = 0;
};

class Ramp {
 public:
  Ramp() = default;
  explicit Ramp(std::vector<RampStage> stages) : stages_(std::move(stages)) {}

  bool empty() const { return stages_.empty(); }
  Duration duration() const;
  double peak() const;
  // The same shape with every rate multiplied.
  Ramp times(double share) const;

  // How many should have come `after` its start.
  double count_at(std::chrono::duration<double> after) const;
  // When the count reaches `count`; the end where it never does.
  std::chrono::duration<double> time_of(double count) const;

 private:
  std::vector<RampStage> stages_;
};

}  // namespace sluice::lab
