// The queue as those meet it who add jobs and those who work on them from outside.
#pragma once

#include <atomic>

#include "jobs/failure_reports.h"
#include "jobs/job_store.h"
#include "messaging/bell.h"

namespace sluice::jobs {

// Safe to share between threads. All it is given must outlive it.
class Jobs {
 public:
  // `failures` hears of jobs that failed, where somebody wants to know.
  Jobs(JobStore& store, messaging::Bell& bell, Clock& clock, FailureReports* failures = nullptr)
      : store_(store), bell_(bell), clock_(clock), failures_(failures) {}

  // As the store has it; idle workers of this process see them at once.
  Task<std::vector<Enqueued>> enqueue(std::vector<NewJob> jobs);
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs);
  Task<std::optional<bool>> retry(JobId id);
  Task<std::vector<Verdict>> complete(std::vector<Completion> completions);
  Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures);

  // As the store has it; where there is nothing, waits up to `wait` for something.
  Task<std::vector<ClaimedJob>> claim(ClaimRequest request, Duration wait);
  // Whoever waits in `claim` goes, and nobody waits any more.
  void end_waits();

  // What needs nothing but the store.
  JobStore& store() { return store_; }

 private:
  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  FailureReports* failures_;
  std::atomic<bool> waits_ended_ = false;
};

}  // namespace sluice::jobs
