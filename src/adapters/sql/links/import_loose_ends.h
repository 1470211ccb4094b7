// The work that follows from the end of an import: bookmarks to take over or to delete, waits to end, jobs to cancel.
//
// An import may be as large as a file of 50 MiB, and a statement may take only seconds. So all of it is done in steps
// of a bounded number of rows; the remaining rows show the remaining work.
#pragma once

#include "adapters/sql/driver/tx_task.h"
#include "adapters/sql/jobs/job_endings.h"
#include "links/import.h"

namespace sluice::sql {

// links::ImportStore::tie_up.
TxTask<size_t> tie_up_step(Tx& tx, links::ImportId id, int64_t most, EndingRules rules);

}  // namespace sluice::sql
