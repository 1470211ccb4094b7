// The lanes in which refreshes wait, the most urgent first.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice::coordination {

struct CoalescingLane {
  std::string name = {};
  // Time a fetch for a message of this lane may run before another worker may fetch the item.
  Duration lease = 30s;

  static void describe(config::Section<CoalescingLane>& section);
};

struct CoalescingPlan {
  std::vector<CoalescingLane> lanes = {};
  // How long an item is remembered after its last use; longer while a message of it waits in a lane that lags.
  Duration keep = 45min;

  static void describe(config::Section<CoalescingPlan>& section);
  void validate(config::Problems& problems) const;

  Duration longest_lease() const;
  // How long a message of `lane` may wait before it is presumed lost; `lags` as RefreshRequest has them.
  Duration patience(size_t lane, const std::vector<Duration>& lags) const;
};

}  // namespace sluice::coordination
