// Requests that add jobs and may be sent again: remembered together with the jobs they added.
#pragma once

#include "adapters/sql/jobs/job_queue.h"
#include "jobs/job_store.h"

namespace sluice::sql {

// Adds the jobs and remembers the answer; where the request was there before, only gives its answer, or nothing if that
// one asked for something else. Waits for another transaction with the same request to end.
TxTask<std::optional<std::vector<jobs::Enqueued>>> enqueue_for_request(Tx& tx, jobs::EnqueueRequest request,
                                                                       PreparedJobs jobs);

// Forgets requests older than `age`, at most `most` of them; how many.
TxTask<size_t> forget_old_requests(Tx& tx, Duration age, size_t most);

}  // namespace sluice::sql
