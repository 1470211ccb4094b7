#include "jobs/job_end.h"

namespace sluice::jobs {
namespace {

using How = Ending::How;
using Next = JobFate::Next;

How how_of(const Failure& failure) {
  if (failure.released) return How::released;
  return failure.permanent ? How::failed_for_good : How::failed;
}

JobFate fate_of_released(const Ending& ending) {
  return {.next = ending.onward ? Next::handed_on : Next::waits, .status = JobStatus::failed, .takes_try_back = true};
}

JobFate fate_of_dead(bool lost) {
  return {.status = JobStatus::dead, .attempt = lost ? "lost" : "dead", .frees_unique_key = true};
}

}  // namespace

Ending ending_of(Failure failure) {
  const How how = how_of(failure);
  return {.job = failure.job, .how = how, .error = std::move(failure.error), .onward = std::move(failure.onward)};
}

Verdict verdict_on(const LiveJob& job, const Ending& ending) {
  if (!job.running) return Verdict::not_running;
  if (job.token != ending.job.token) return Verdict::stale_lock;
  const bool renewed = ending.how == How::lost && !job.lock_expired;
  return renewed ? Verdict::stale_lock : Verdict::accepted;
}

JobFate fate_of(const LiveJob& job, const Ending& ending, const RetryDelays& delays, Random& random) {
  if (ending.how == How::succeeded) return {};
  if (ending.onward || ending.how == How::released) return fate_of_released(ending);
  const bool lost = ending.how == How::lost;
  if (ending.how == How::failed_for_good || job.attempts >= job.max_attempts) return fate_of_dead(lost);
  // A lost job waits behind others of its priority: one that hangs every worker can't stay at the head.
  return {.next = Next::waits,
          .status = JobStatus::failed,
          .attempt = lost ? "lost" : "failed",
          .delay = lost ? Duration{0} : delays.after(job.attempts, random)};
}

JobFate fate_of_canceled() {
  return {.status = JobStatus::canceled, .frees_unique_key = true};
}

}  // namespace sluice::jobs
