// The jobs that wait for slots of throttle keys: which are next, and when one becomes due. Read under the keys' locks.
//
// The index of a key's jobs has their priority first, and within a priority those that are due. A key may have many
// jobs that are not due, such as failed ones that wait for their next try: those are passed over by priority, not one
// by one. Where few jobs wait, one look finds them all, and there is no second one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "adapters/sql/jobs/claim_cursors.h"
#include "base/time.h"
#include "jobs/slot_plan.h"

namespace sluice::sql {

struct SeekersWanted {
  std::string kind;
  std::string throttle_key;
  int64_t most = 0;
  ClaimPosition from{};  // none waits before it
};
struct Seekers {
  std::vector<jobs::SlotSeeker> due{};  // the best first; as many as there are, or as were wanted
  bool complete = false;                // no other job of the key waits, except those that become due later
  std::optional<Time> later{};          // if complete: when the first of those becomes due
  // The first that wait, due or not; none if due ones were looked for behind others that are not.
  std::vector<jobs::SlotSeeker> first{};
  bool passed_over = false;
};
// Those of each key.
TxTask<std::vector<Seekers>> read_seekers(Tx& tx, std::vector<SeekersWanted> wanted);

struct LookWanted {
  std::string kind;
  std::string throttle_key;
  Duration pause{0};     // so much later; 0: when the first job is due
  ClaimPosition from{};  // none waits before it
};
// When to look at each key again; never where no job waits.
TxTask<std::vector<std::optional<Time>>> read_looks(Tx& tx, std::vector<LookWanted> wanted);

}  // namespace sluice::sql
