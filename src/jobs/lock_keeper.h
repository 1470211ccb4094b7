// Renews the locks of running jobs, and stops jobs that must not continue: those whose time is up and those whose lock
// was lost, either reported by the store or expired while the store was unavailable.
#pragma once

#include "jobs/job_kind.h"
#include "jobs/job_store.h"
#include "jobs/jobs_in_hand.h"
#include "runtime/wakeup.h"

namespace sluice::jobs {

// Belongs to one executor. All it is given must outlive it.
class LockKeeper {
 public:
  LockKeeper(JobStore& store, const JobKinds& kinds, Clock& clock, Random& random, JobsInHand& in_hand,
             const Executor& executor);

  // Its loops.
  void start(TaskScope& scope);

  // A job was claimed by a call that began at `asked_at`.
  void take(RunningJob& running, Instant asked_at) const;
  // Jobs were added.
  void look() { changed_.notify_all(); }

 private:
  Task<> renew_round();
  Task<> watch_round();
  void settle(const std::map<LockedJob, Verdict>& verdicts, Instant asked_at);
  void settle(RunningJob& running, Verdict verdict, Instant asked_at) const;
  static void lose(RunningJob& running);

  JobStore& store_;
  const JobKinds& kinds_;
  Clock& clock_;
  Random& random_;
  JobsInHand& in_hand_;
  Wakeup changed_;
};

}  // namespace sluice::jobs
