#include "lab/ramp.h"

#include <algorithm>
#include <cmath>

namespace sluice::lab {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

Duration Ramp::duration() const {
  Duration sum{0};
  for (const RampStage& stage : stages_) sum += stage.duration;
  return sum;
}

double Ramp::peak() const {
  double most = 0;
  for (const RampStage& stage : stages_) most = std::max(most, stage.rate);
  return most;
}

Ramp Ramp::times(double share) const {
  Ramp scaled = *this;
  for (RampStage& stage : scaled.stages_) stage.rate *= share;
  return scaled;
}

double Ramp::count_at(Seconds after) const {
  double count = 0;
  double from = 0;
  for (const RampStage& stage : stages_) {
    const Seconds whole = stage.duration;
    const double spent = std::clamp(after.count(), 0.0, whole.count());
    const double reached = whole.count() > 0 ? from + (stage.rate - from) * spent / whole.count() : stage.rate;
    count += (from + reached) / 2 * spent;
    after -= whole;
    if (after.count() <= 0) break;
    from = stage.rate;
  }
  return count;
}

Seconds Ramp::time_of(double count) const {
  Seconds before{0};
  double from = 0;
  for (const RampStage& stage : stages_) {
    const Seconds whole = stage.duration;
    const double in_stage = (from + stage.rate) / 2 * whole.count();
    if (count <= in_stage && in_stage > 0) {
      // count = from * t + slope * t * t / 2, solved for t in the form that also holds where the slope is 0.
      const double slope = (stage.rate - from) / whole.count();
      const double root = std::sqrt(std::max(0.0, from * from + 2 * slope * count));
      return before + Seconds(count == 0 ? 0 : 2 * count / (from + root));
    }
    count -= in_stage;
    before += whole;
    from = stage.rate;
  }
  return before;
}

}  // namespace sluice::lab
