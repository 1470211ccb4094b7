// The jobs that a process has claimed and not yet written back.
#pragma once

#include <list>
#include <memory>
#include <stop_token>

#include "jobs/job_batch.h"
#include "jobs/job_handler.h"
#include "runtime/task_scope.h"

namespace sluice::jobs {

struct RunningJob {
  RunningJob(ClaimedJob claimed, std::shared_ptr<JobBatch> of, const Executor& executor)
      : job(std::move(claimed)), batch(std::move(of)), scope(executor) {}

  ClaimedJob job;
  std::shared_ptr<JobBatch> batch;
  TaskScope scope;  // one of its own, so that it can be cancelled alone
  std::stop_source stop{};
  Instant started{};
  Deadline deadline{};
  Instant renew_at{};
  Instant locked_until{};  // no other worker can have it before
  bool lost = false;       // another worker may have it: nothing is written for it
  bool overdue = false;
  JobOutcome outcome{};  // once it has ended
  Duration took{0};

  LockedJob lock() const { return {job.id, job.token}; }
  void cancel() {
    stop.request_stop();
    scope.cancel();
  }
};

struct JobsInHand {
  std::list<RunningJob> running;
  std::list<RunningJob> ended;  // to be written back
  size_t being_written = 0;     // of `ended`, by the call that is under way

  size_t waiting_to_be_written() const { return ended.size() - being_written; }
};

}  // namespace sluice::jobs
