// Runs jobs in this process: claims batches of the kinds that have handlers, runs them side by side, keeps their locks
// while they run, and writes back how they ended.
//
// A job whose lock was lost is stopped, and nothing is written for it. New work of this process starts at once (the
// bell); work of others is found by polling, less and less often while there is none.
#pragma once

#include "jobs/jobs_config.h"
#include "jobs/lock_keeper.h"
#include "jobs/write_back.h"

namespace sluice::jobs {

// Belongs to one executor. The objects in `Parts` must outlive it; stop it before it is destroyed.
class Workers {
 public:
  struct Parts {
    JobStore& store;
    const JobKinds& kinds;
    messaging::Bell& bell;
    Clock& clock;
    Random& random;
    FailureReports* failures = nullptr;  // optional
  };

  // `worker` names this process in the jobs it has.
  Workers(Parts parts, WorkersConfig config, std::string worker, JobHandlers handlers, Executor executor);

  void start();

  // Claims nothing more and lets running jobs end, as long as `drain` allows. Jobs still running then are cancelled and
  // handed back: another worker may take them at once, and only the crash of a worker costs a job one of its tries.
  // False if jobs continue although they were cancelled: then nothing they use may be destroyed, and the process must
  // exit. Others get those jobs when their locks expire.
  Task<bool> stop();

  size_t running() const { return in_hand_.running.size(); }

 private:
  Task<> claim_round();
  Task<std::vector<ClaimedJob>> claim(size_t limit);
  Task<> wait_for_work();
  size_t places() const;
  void begin(std::vector<ClaimedJob> claimed, Instant asked_at);
  Task<> run(std::list<RunningJob>::iterator running);
  Task<JobOutcome> handle(RunningJob& running);
  Task<> rest(Duration pause);
  Task<> wait_until_none_run(Instant end);
  void end(std::list<RunningJob>::iterator running, JobOutcome outcome);

  Parts parts_;
  const WorkersConfig config_;
  const std::string worker_;
  const JobHandlers handlers_;
  Executor executor_;
  messaging::Bell::Listener new_work_;
  JobsInHand in_hand_;
  LockKeeper locks_;
  Wakeup changed_;  // a job has ended or was written back, or a claim has ended
  WriteBack write_back_;
  Duration poll_;
  bool claiming_ = false;
  bool stopping_ = false;
  TaskScope claims_;
  TaskScope upkeep_;
};

}  // namespace sluice::jobs
