// The jobs that wait for slots of throttle keys: which are next, and when one becomes due. Read under the keys' locks.
//
// The index of a key's jobs has their priority first, and within a priority those that are due. A key may have many
// jobs that are not due, such as failed ones that wait for their next try: those are passed over by priority, not one
// by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "base/time.h"
#include "jobs/slot_plan.h"

namespace sluice::sql {

struct SeekersWanted {
  std::string kind;
  std::string throttle_key;
  int64_t most = 0;
};
// The due jobs of each key, the best first.
TxTask<std::vector<std::vector<jobs::SlotSeeker>>> read_seekers(Tx& tx, std::vector<SeekersWanted> wanted);

struct LookWanted {
  std::string kind;
  std::string throttle_key;
  Duration pause{0};  // so much later; 0: when the first job is due
};
// When to look at each key again; never where no job waits.
TxTask<std::vector<std::optional<Time>>> read_looks(Tx& tx, std::vector<LookWanted> wanted);

}  // namespace sluice::sql
