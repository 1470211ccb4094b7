#include "jobs/jobs.h"

#include <algorithm>

#include "jobs/job_metrics.h"

namespace sluice::jobs {
namespace {

// A crowd that waits looks again neither for every bell nor all the time.
constexpr Duration shortest_pause = 20ms;
constexpr Duration longest_pause = 1s;

}  // namespace

Task<std::vector<Enqueued>> Jobs::enqueue(std::vector<NewJob> jobs) {
  std::vector<Enqueued> enqueued = co_await store_.enqueue(std::move(jobs));
  added();
  co_return enqueued;
}

Task<bool> Jobs::enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs) {
  const bool first = co_await store_.enqueue_once(message, std::move(jobs));
  if (first) added();
  co_return first;
}

Task<std::optional<bool>> Jobs::retry(JobId id) {
  const std::optional<bool> done = co_await store_.retry(id);
  added();
  co_return done;
}

Task<std::vector<Verdict>> Jobs::complete(std::vector<Completion> completions) {
  std::vector<Verdict> verdicts = co_await store_.complete(std::move(completions));
  bell_.ring();  // their throttle keys may have room now
  co_return verdicts;
}

Task<std::vector<FailVerdict>> Jobs::fail(std::vector<Failure> failures) {
  std::vector<FailVerdict> verdicts = co_await store_.fail(failures);
  bell_.ring();
  for (size_t i = 0; told_.failures != nullptr && i < failures.size(); ++i) {
    if (verdicts[i].verdict != Verdict::accepted) continue;
    told_.failures->add(failures[i].job.id, std::move(failures[i].error), verdicts[i].dead);
  }
  co_return verdicts;
}

Task<std::vector<ClaimedJob>> Jobs::claim(ClaimRequest request, Duration wait) {
  const Instant end = clock_.now() + wait;
  const Executor executor = co_await asio::this_coro::executor;
  messaging::Bell::Listener listener = bell_.listen(executor);
  Duration pause = shortest_pause;
  while (true) {
    std::vector<ClaimedJob> claimed = co_await store_.claim(request);
    const Instant now = clock_.now();
    if (!claimed.empty() || now >= end || waits_ended_) {
      count_claimed(claimed.size());
      co_return claimed;
    }
    const Instant again = std::min(end, now + pause);
    co_await listener.wait_until(clock_, again);
    const Instant soonest = std::min(end, now + shortest_pause);
    if (pause > shortest_pause && clock_.now() < soonest) co_await clock_.sleep_until(soonest);
    pause = std::min(pause * 2, longest_pause);
  }
}

void Jobs::added() {
  bell_.ring();
  if (told_.other_processes) told_.other_processes();
}

void Jobs::end_waits() {
  waits_ended_ = true;
  bell_.ring();
}

}  // namespace sluice::jobs
