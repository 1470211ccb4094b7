// Work caused by time alone: jobs become due, locks expire, old records are deleted.
#pragma once

#include <optional>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/jobs/job_endings.h"
#include "adapters/sql/jobs/upkeep_cursor.h"

namespace sluice::sql {

// A cheap check for work behind some places.
struct Upkeep {
  bool lost = false;                     // a lock has run out
  std::optional<Time> next_scheduled{};  // when the first job without a throttle key becomes due
  std::optional<Time> next_key{};        // when the first throttle key wants to be looked at
  Time now{};

  bool scheduled_due() const { return next_scheduled && *next_scheduled <= now; }
  bool key_due() const { return next_key && *next_key <= now; }
  // The first of those times that has not come yet.
  std::optional<Time> next() const;
};
Task<Upkeep> look_for_upkeep(Database& database, UpkeepPlaces after);

// A part of the work after a place.
struct UpkeepPart {
  size_t count = 0;
  Time reached{};  // nothing is left up to here
};
// Lets jobs be claimed that have become due up to `now`.
TxTask<UpkeepPart> stage_due(Tx& tx, Time after, Time now);
// Gives slots of throttle keys that were to be looked at by `now`, but for those that others have locked.
TxTask<UpkeepPart> tend_keys(Tx& tx, Time after, Time now, EndingRules rules);

// Jobs whose lock has expired by `now`, to be ended as lost.
struct LostJobs {
  std::vector<jobs::Ending> endings{};
  Time reached{};
};
Task<LostJobs> find_lost(Database& database, Time after, Time now);

// Finished jobs of some age with ids between two. No job is finished before it was added, so `before` may be the first
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
