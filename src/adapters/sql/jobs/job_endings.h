// The ends of claimed jobs and their consequences: the bodies of complete, fail, cancel, retry and of burying the lost.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "base/random.h"
#include "jobs/job.h"
#include "jobs/job_end.h"
#include "jobs/job_kind.h"

namespace sluice::sql {

// Parts of the store that the bodies need; all of them outlive the bodies.
struct EndingRules {
  const jobs::JobKinds* kinds = nullptr;
  Random* random = nullptr;  // for the delays of growing retries
};

// Ends the jobs in one statement, where the completions name their throttle keys rightly; which of them could be ended
// so. The others are for `end_jobs`; so are all of them where it throws ConstraintViolation.
TxTask<std::vector<jobs::LockedJob>> end_succeeded_jobs(Tx& tx, std::vector<jobs::Completion> completions,
                                                        EndingRules rules);

// Ends each alone as it says, or refuses it; passes freed slots on. Answers stand in the order of the endings.
TxTask<std::vector<jobs::FailVerdict>> end_jobs(Tx& tx, std::vector<jobs::Ending> endings, EndingRules rules);

// Implement cancel and retry of the port.
TxTask<std::optional<bool>> cancel_job(Tx& tx, jobs::JobId id, EndingRules rules);
TxTask<std::optional<bool>> retry_job(Tx& tx, jobs::JobId id, EndingRules rules);

// Cancels those that have not started and are not finished; how many.
TxTask<size_t> cancel_waiting(Tx& tx, std::set<jobs::JobId> ids, EndingRules rules);

// Extends those locks that are present.
TxTask<std::vector<jobs::Verdict>> renew_locks(Tx& tx, std::vector<jobs::LockedJob> jobs);

}  // namespace sluice::sql
