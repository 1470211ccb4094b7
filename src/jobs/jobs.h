// The queue as those meet it who add jobs and those who work on them from outside.
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
  Task<std::optional<std::vector<Enqueued>>> enqueue_for(EnqueueRequest request, std::vector<NewJob> jobs);
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs);
  Task<std::optional<bool>> retry(JobId id);
  Task<std::optional<bool>> cancel(JobId id);
  // `tries` are what the tokens say, in the same order, or nothing.
  Task<std::vector<Verdict>> complete(std::vector<Completion> completions, std::vector<OutsideTry> tries = {});
  Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures, std::vector<OutsideTry> tries = {});

  // As the store has it; where there is nothing, waits up to `wait` for something. Nothing is taken for who has `gone`,
  // where that can be known, and what was taken meanwhile is given back. Fewer than the limit where they are large
  // together.
  Task<std::vector<ClaimedJob>> claim(ClaimRequest request, Duration wait, std::function<bool()> gone = {});
  // What the token of a job that was claimed just now is to say.
  OutsideTry try_of(const ClaimedJob& claimed) const;
  // Their worker never heard of them: anybody may claim them, and this was no try.
  Task<> give_back(std::vector<LockedJob> jobs);
  // Whoever waits in `claim` goes, and nobody waits any more.
  void end_waits();

  // Somebody added jobs to the store by other means.
  void added();

  // What needs nothing but the store.
  JobStore& store() { return store_; }

 private:
  Task<std::vector<ClaimedJob>> take(ClaimRequest request);
  // Of the try with that number; nothing is known of it where `tries` has none.
  void note_end(JobBatch& batch, const std::vector<OutsideTry>& tries, size_t number, JobEnd end) const;

  JobStore& store_;
  messaging::Bell& bell_;
  Clock& clock_;
  const Told told_;
  std::atomic<bool> waits_ended_ = false;
};

}  // namespace sluice::jobs
