// What is known of the jobs that were claimed from outside, until they end: for the log and the metrics, nothing else.
//
// A worker over HTTP names its jobs by id and token. Of those that were claimed in this process it is known when and of
// what kind; of those that were claimed in another, nothing.
#pragma once

#include <list>
#include <map>
#include <mutex>

#include "jobs/job.h"

namespace sluice::jobs {

// Safe to share between threads.
class OutsideTries {
 public:
  // Beyond that the oldest are forgotten: workers that never come back leave theirs.
  static constexpr size_t most = 50'000;

  struct Ended {
    std::string kind;
    std::optional<std::string> throttle_key{};
    Duration took{0};
  };

  void began(const std::vector<ClaimedJob>& claimed, Instant now);
  // Nothing where it did not begin here. Forgets it.
  std::optional<Ended> ended(const LockedJob& job, Instant now);

 private:
  struct Try {
    LockedJob job;
    std::string kind;
    std::optional<std::string> throttle_key;
    Instant began;
  };

  std::mutex mutex_;
  std::list<Try> tries_;  // oldest first
  std::map<LockedJob, std::list<Try>::iterator> by_job_;
};

}  // namespace sluice::jobs
