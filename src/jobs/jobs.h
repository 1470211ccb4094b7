// Queue API for producers and external workers.
#pragma once

#include <atomic>
#include <functional>

#include "jobs/failure_reports.h"
#include "jobs/job_batch.h"
#include "jobs/job_store.h"
#include "jobs/outside_try.h"
#include "messaging/bell.h"

namespace sluice::jobs {

std::vector<LockedJob> locks_of(const std::vector<ClaimedJob>& claimed);

// Safe to share between threads. All it is given must outlive it.
class Jobs {
 public:
  // Optional observers.
  struct Told {
    FailureReports* failures = nullptr;       // that jobs failed
    std::function<void()> other_processes{};  // that jobs were added; must not wait
  };

  Jobs(JobStore& store, messaging::Bell& bell, Clock& clock) : Jobs(store, bell, clock, Told{}) {}
  Jobs(JobStore& store, messaging::Bell& bell, Clock& clock, Told told)
      : store_(store), bell_(bell), clock_(clock), told_(std::move(told)) {}

  // As the store has it; idle workers see them at once.
  Task<std::vector<Enqueued>> enqueue(std::vector<NewJob> jobs);
  Task<std::optional<std::vector<Enqueued>>> enqueue_for(EnqueueRequest request, std::vector<NewJob> jobs);
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs);
  Task<std::optional<bool>> retry(JobId id);
  Task<std::optional<bool>> cancel(JobId id);
  // `tries` are decoded from the tokens, in the same order, or nothing.
  Task<std::vector<Verdict>> complete(std::vector<Completion> completions, std::vector<OutsideTry> tries = {});
  Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures, std::vector<OutsideTry> tries = {});

  // As in the store; if nothing is available, waits up to `wait`. Nothing is claimed for a caller that has `gone`, if
  // that is known, and jobs claimed meanwhile are handed back. Returns fewer than the limit if the jobs are large.
  Task<std::vector<ClaimedJob>> claim(ClaimRequest request, Duration wait, std::function<bool()> gone = {});
  // The token content for a job claimed just now.
  OutsideTry try_of(const ClaimedJob& claimed) const;
  // Their worker never received them: any worker may claim them, and the try does not count.
  Task<> give_back(std::vector<LockedJob> jobs);
  // Ends all waits in `claim`; later ones do not wait.
  void end_waits();

  // Jobs were added to the store by other means.
  void added();

  // For operations that need only the store.
  JobStore& store() { return store_; }

 private:
  Task<std::vector<ClaimedJob>> take(ClaimRequest request);
  // Notes the end of the try with that number, if `tries` has it.
  void note_end(JobBatch& batch, const std::vector<OutsideTry>& tries, size_t number, JobEnd end) const;

  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  const Told told_;
  std::atomic<bool> waits_ended_ = false;
};

}  // namespace sluice::jobs
