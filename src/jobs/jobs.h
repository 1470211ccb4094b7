// The queue as those meet it who add jobs and those who work on them from outside.
#pragma once

#include <atomic>
#include <functional>

#include "jobs/failure_reports.h"
#include "jobs/job_store.h"
#include "messaging/bell.h"

namespace sluice::jobs {

// Safe to share between threads. All it is given must outlive it.
class Jobs {
 public:
  // Who else wants to know.
  struct Told {
    FailureReports* failures = nullptr;       // that jobs failed
    std::function<void()> other_processes{};  // that jobs were added; must not wait
  };

  Jobs(JobStore& store, messaging::Bell& bell, Clock& clock) : Jobs(store, bell, clock, Told{}) {}
  Jobs(JobStore& store, messaging::Bell& bell, Clock& clock, Told told)
      : store_(store), bell_(bell), clock_(clock), told_(std::move(told)) {}

  // As the store has it; idle workers see them at once.
  Task<std::vector<Enqueued>> enqueue(std::vector<NewJob> jobs);
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs);
  Task<std::optional<bool>> retry(JobId id);
  Task<std::vector<Verdict>> complete(std::vector<Completion> completions);
  Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures);

  // As the store has it; where there is nothing, waits up to `wait` for something.
  Task<std::vector<ClaimedJob>> claim(ClaimRequest request, Duration wait);
  // Whoever waits in `claim` goes, and nobody waits any more.
  void end_waits();

  // Somebody added jobs to the store by other means.
  void added();

  // What needs nothing but the store.
  JobStore& store() { return store_; }

 private:
  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  const Told told_;
  std::atomic<bool> waits_ended_ = false;
};

}  // namespace sluice::jobs
