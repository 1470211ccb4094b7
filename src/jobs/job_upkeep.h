// Periodic work of every process with jobs, whether or not it runs any: makes due jobs claimable, ends jobs whose lock
// or tries ran out, and deletes old finished jobs.
#pragma once

#include "jobs/failure_reports.h"
#include "jobs/job_store.h"
#include "messaging/bell.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::jobs {

// Belongs to the executor of the scope it is started in. All it is given must outlive it.
class JobUpkeep {
 public:
  // `failures`, if not null, is told of jobs that died with their worker.
  JobUpkeep(JobStore& store, messaging::Bell& bell, Clock& clock, Random& random, Duration retention,
            FailureReports* failures = nullptr)
      : store_(store), bell_(bell), clock_(clock), random_(random), retention_(retention), failures_(failures) {}

  void start(TaskScope& scope);

 private:
  Task<> tend_round();
  Task<> purge_round();

  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  Random& random_;
  const Duration retention_;
  FailureReports* const failures_;
  bool comes_due_ = false;  // within this wait
};

}  // namespace sluice::jobs
