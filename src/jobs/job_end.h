// How a try ends, and what becomes of its job: the rules alone, from the job's row as it is under its lock.
//
// A store reads the row, asks these functions, and writes the answer.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "jobs/job.h"
#include "jobs/job_kind.h"

namespace sluice::jobs {

// A job that is not finished.
struct LiveJob {
  JobId id;
  std::string kind;
  std::optional<std::string> unique_key{};
  bool running = false;
  LockToken token = 0;
  int32_t attempts = 0;
  int32_t max_attempts = 1;
  bool lock_expired = false;
  std::optional<std::string> throttle_key{};
};

// One try's end. `lost` ends only a lock that has run out; a job with further tries then waits for its next claim.
// `released` takes the try back.
struct Ending {
  enum class How { succeeded, failed, failed_for_good, lost, released };

  LockedJob job;
  How how = How::succeeded;
  std::string error{};
  std::optional<std::string> result{};
  std::optional<Handover> onward{};  // of a released job
};

Ending ending_of(Failure failure);

// Whether the ending counts: only of the try that runs now.
Verdict verdict_on(const LiveJob& job, const Ending& ending);

// What becomes of a job.
struct JobFate {
  enum class Next { finished, waits, handed_on };

  Next next = Next::finished;
  JobStatus status = JobStatus::succeeded;  // from now on
  std::optional<std::string> attempt{};     // outcome of the try in the history, where that keeps it
  Duration delay{0};                        // before the next try
  bool takes_try_back = false;
  bool frees_unique_key = false;
};

// Of a job whose ending counts. `random` spreads the delays of growing retries.
JobFate fate_of(const LiveJob& job, const Ending& ending, const RetryDelays& delays, Random& random);

// Of a job that is canceled before it runs.
JobFate fate_of_canceled();

}  // namespace sluice::jobs
