// Tells the store how jobs ended, many at once: what ends while the store is told of others waits for the next call.
#pragma once

#include "jobs/job_store.h"
#include "jobs/jobs_in_hand.h"
#include "messaging/bell.h"
#include "runtime/wakeup.h"

namespace sluice::jobs {

// Belongs to one executor. All it is given must outlive it.
class WriteBack {
 public:
  // Whoever waits for jobs to leave `in_hand` waits at `changed`.
  WriteBack(JobStore& store, messaging::Bell& bell, JobsInHand& in_hand, Wakeup& changed, Clock& clock,
            const Executor& executor)
      : store_(store),
        bell_(bell),
        in_hand_(in_hand),
        changed_(changed),
        clock_(clock),
        executor_(executor),
        ended_(executor) {}

  // One round of its loop. Throws EngineUnavailable; nothing is forgotten then.
  Task<> round();

  // A job was moved to `ended`.
  void look() { ended_.notify_all(); }

 private:
  using Ended = std::list<RunningJob>::iterator;
  using Batch = std::vector<Ended>;  // only we remove from `ended`

  Task<> complete(Batch batch);
  Task<> fail(Batch batch);
  void settle(Ended job, std::string_view outcome);
  void refused(const RunningJob& job, Verdict verdict) const;

  JobStore& store_;
  messaging::Bell& bell_;
  JobsInHand& in_hand_;
  Wakeup& changed_;
  Clock& clock_;
  Executor executor_;
  Wakeup ended_;
};

}  // namespace sluice::jobs
