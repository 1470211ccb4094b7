#include "jobs/job_kind.h"

#include <algorithm>
#include <cmath>

namespace sluice::jobs {

Duration RetryDelays::after(int32_t attempt, Random& random) const {
  const auto tried = static_cast<unsigned>(std::max(attempt, 1) - 1);
  if (growing) return growing->delay(tried, random);
  return fixed.empty() ? Duration{0} : fixed[std::min<size_t>(tried, fixed.size() - 1)];
}

Duration Throttle::gap() const {
  if (per_second <= 0) return Duration{0};
  constexpr double most = 1e15;  // the number below must be an integer that exists
  return Duration{static_cast<int64_t>(std::ceil(std::min(1e6 / per_second, most)))};
}

const JobKind& JobKinds::of(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? by_default_ : found->second;
}

}  // namespace sluice::jobs
