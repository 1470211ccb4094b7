#include "coordination/coalescing_plan.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "runtime/config.h"

namespace sluice::coordination {

void CoalescingLane::describe(config::Section<CoalescingLane>& section) {
  section.key("name", &CoalescingLane::name, "Name of the lane.").not_empty();
  section.key("lease", &CoalescingLane::lease, "Time a fetch may run before another may start.").at_least(1ms);
}

void CoalescingPlan::describe(config::Section<CoalescingPlan>& section) {
  section.list("lane", &CoalescingPlan::lanes, "A lane of waiting refreshes; the most urgent lane comes first.");
  section
      .key("keep", &CoalescingPlan::keep,
           "Time an item is kept after its last use; longer while its message waits in a lagging lane.")
      .at_least(1s);
}

void CoalescingPlan::validate(config::Problems& problems) const {
  if (lanes.empty()) problems.add("lane", "must have at least one entry; add a lane for refreshes");
  std::set<std::string> names;
  for (const CoalescingLane& lane : lanes) {
    if (!names.insert(lane.name).second) problems.add("lane", "two lanes are named " + lane.name + "; rename one");
  }
  if (keep < longest_lease()) {
    problems.add("keep",
                 fmt::format("must not be shorter than the longest lease, {}: a running fetch would be forgotten",
                             format_duration(longest_lease())));
  }
}

Duration CoalescingPlan::longest_lease() const {
  Duration longest{0};
  for (const CoalescingLane& lane : lanes) longest = std::max(longest, lane.lease);
  return longest;
}

Duration CoalescingPlan::patience(size_t lane, const std::vector<Duration>& lags) const {
  const Duration lag = lane < lags.size() ? lags[lane] : Duration{0};
  return std::max(lane < lanes.size() ? lanes[lane].lease : Duration{0}, 2 * lag);
}

}  // namespace sluice::coordination
