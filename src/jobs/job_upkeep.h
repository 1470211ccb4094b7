// What every process that has jobs does now and then, whether or not it runs any: brings due what is due, ends what ran
// out of time and tries, and forgets what finished long ago.
#pragma once

#include "jobs/job_store.h"
#include "messaging/bell.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::jobs {

// Belongs to the executor of the scope it is started in. All it is given must outlive it.
class JobUpkeep {
 public:
  JobUpkeep(JobStore& store, messaging::Bell& bell, Clock& clock, Random& random, Duration retention)
      : store_(store), bell_(bell), clock_(clock), random_(random), retention_(retention) {}

  void start(TaskScope& scope);

 private:
  Task<> tend_round();
  Task<> purge_round();

  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  Random& random_;
  const Duration retention_;
  bool comes_due_ = false;  // within this wait
};

}  // namespace sluice::jobs
