// What time alone brings about: jobs become due, locks run out, old records go.
#pragma once

#include <optional>
#include <vector>

#include "adapters/sql/database.h"
#include "adapters/sql/job_endings.h"

namespace sluice::sql {

// A cheap look at what there is to do.
struct Upkeep {
  bool lost = false;                     // a lock has run out
  std::optional<Time> next_scheduled{};  // when the first job without a throttle key becomes due
  std::optional<Time> next_key{};        // when the first throttle key wants to be looked at
  Time now{};

  bool scheduled_due() const { return next_scheduled && *next_scheduled <= now; }
  bool key_due() const { return next_key && *next_key <= now; }
  std::optional<Time> next() const;
};
Task<Upkeep> look_for_upkeep(Database& database);

// Each does a part of what there is and says how many.
TxTask<size_t> stage_due(Tx& tx);
TxTask<size_t> tend_keys(Tx& tx, EndingRules rules);

// Those whose lock ran out with their last try.
Task<std::vector<Ending>> find_spent(Database& database);

// Finished jobs of some age with ids between two. Nobody is finished before it was added, so `before` may be the first
// id of that time.
struct OldJobs {
  Duration age{};
  jobs::JobId after{};
  jobs::JobId before{};
};
// Removes the first of them, and tells which.
TxTask<std::vector<jobs::JobId>> purge_finished(Tx& tx, OldJobs old, size_t most);

// No id made at `time` or later is smaller.
jobs::JobId first_id_at(Time time);

}  // namespace sluice::sql
