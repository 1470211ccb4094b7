// Adds jobs inside a caller's transaction.
//
// A store whose tables are in the same schema adds jobs together with its own rows: both or neither. Ids and settings
// of kinds are chosen before the transaction, so that running its body again adds the same jobs.
//
//   const PreparedJobs prepared = prepare_jobs(std::move(jobs), kinds, clock.wall(), random);
//   co_await database.transact(add_import, import, prepared);    // whose body awaits enqueue_jobs(tx, prepared)
//
// From another schema a job is added by the message `jobs.enqueue`.
#pragma once

#include <memory>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "base/random.h"
#include "jobs/job.h"
#include "jobs/job_kind.h"

namespace sluice::sql {

struct PreparedJob {
  jobs::JobId id;
  jobs::NewJob job;  // with max_attempts
  int64_t slots = 0;
  int64_t gap_us = 0;
};
using PreparedJobs = std::shared_ptr<const std::vector<PreparedJob>>;

// Ids in the order of the jobs.
PreparedJobs prepare_jobs(std::vector<jobs::NewJob> jobs, const jobs::JobKinds& kinds, Time now, Random& random);

// Adds them all. Answers are in the order of the jobs; a job whose unique key is taken is not added, and its answer is
// the job that has the key. May wait for transactions that add the same keys or jobs of the same throttle keys.
TxTask<std::vector<jobs::Enqueued>> enqueue_jobs(Tx& tx, PreparedJobs jobs);

}  // namespace sluice::sql
