// Writes the outcomes of jobs to the store, in batches: jobs that end during a call are written with the next.
#pragma once

#include "jobs/failure_reports.h"
#include "jobs/job_store.h"
#include "jobs/jobs_in_hand.h"
#include "messaging/bell.h"
#include "runtime/wakeup.h"

namespace sluice::jobs {

// Belongs to one executor. All it is given must outlive it.
class WriteBack {
 public:
  struct Parts {
    JobStore& store;
    messaging::Bell& bell;
    JobsInHand& in_hand;
    Wakeup& changed;  // notified when jobs leave `in_hand`
    Clock& clock;
    FailureReports* failures = nullptr;  // optional
  };

  WriteBack(Parts parts, const Executor& executor) : parts_(parts), executor_(executor), ended_(executor) {}

  // One round of its loop. Throws EngineUnavailable; nothing is forgotten then.
  Task<> round();

  // A job was moved to `ended`.
  void look() { ended_.notify_all(); }

 private:
  using Ended = std::list<RunningJob>::iterator;
  using Batch = std::vector<Ended>;  // only we remove from `ended`

  static std::vector<Batch> pieces_of(Batch done);
  template <typename Verdicts>
  Task<Verdicts> write(Task<Verdicts> call, size_t jobs);
  Task<> complete(Batch batch);
  Task<> fail(Batch batch);
  void fail(Ended job, const FailVerdict& verdict);
  void settle(Ended job, JobEnd end);
  void written();
  void refused(const RunningJob& job, Verdict verdict) const;

  Parts parts_;
  Executor executor_;
  Wakeup ended_;
};

}  // namespace sluice::jobs
