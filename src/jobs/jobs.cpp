#include "jobs/jobs.h"

#include <algorithm>

#include "jobs/byte_budget.h"
#include "jobs/error_text.h"
#include "jobs/job_metrics.h"
#include "runtime/errors.h"

namespace sluice::jobs {
namespace {

// Bounds of the pause between two searches of a waiting claim, so that many of them do not search at every bell.
constexpr Duration shortest_pause = 20ms;
constexpr Duration longest_pause = 1s;
constexpr const char* never_heard = "its worker disconnected before it received the job";

// Clocks of two instances may differ by so much; beyond that, and beyond the longest try, the token says nothing true.
constexpr Duration clock_difference = 1min;
constexpr Duration longest_try = std::chrono::days(30);

JobEnd end_of(const FailVerdict& verdict) {
  if (verdict.verdict != Verdict::accepted) return JobEnd::lost;
  return verdict.dead ? JobEnd::dead : JobEnd::failed;
}

}  // namespace

std::vector<LockedJob> locks_of(const std::vector<ClaimedJob>& claimed) {
  std::vector<LockedJob> locks;
  for (const ClaimedJob& job : claimed) locks.push_back({job.id, job.token});
  return locks;
}

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

Task<std::optional<std::vector<Enqueued>>> Jobs::enqueue_for(EnqueueRequest request, std::vector<NewJob> jobs) {
  std::optional<std::vector<Enqueued>> enqueued = co_await store_.enqueue_for(request, std::move(jobs));
  added();
  co_return enqueued;
}

Task<std::optional<bool>> Jobs::retry(JobId id) {
  const std::optional<bool> done = co_await store_.retry(id);
  added();
  co_return done;
}

Task<std::optional<bool>> Jobs::cancel(JobId id) {
  const std::optional<bool> done = co_await store_.cancel(id);
  bell_.ring();  // its throttle key may have room now
  co_return done;
}

Task<std::vector<Verdict>> Jobs::complete(std::vector<Completion> completions, std::vector<OutsideTry> tries) {
  std::vector<Verdict> verdicts = co_await store_.complete(std::move(completions));
  bell_.ring();  // their throttle keys may have room now
  JobBatch batch(verdicts.size());
  for (size_t i = 0; i < verdicts.size(); ++i) {
    note_end(batch, tries, i, verdicts[i] == Verdict::accepted ? JobEnd::succeeded : JobEnd::lost);
  }
  co_return verdicts;
}

Task<std::vector<FailVerdict>> Jobs::fail(std::vector<Failure> failures, std::vector<OutsideTry> tries) {
  for (Failure& one : failures) one.error = keepable_error(std::move(one.error));
  std::vector<FailVerdict> verdicts = co_await store_.fail(failures);
  bell_.ring();
  JobBatch batch(failures.size());
  for (size_t i = 0; i < failures.size(); ++i) {
    note_end(batch, tries, i, end_of(verdicts[i]));
    if (told_.failures == nullptr || verdicts[i].verdict != Verdict::accepted) continue;
    told_.failures->add(failures[i].job.id, std::move(failures[i].error), verdicts[i].dead);
  }
  co_return verdicts;
}

void Jobs::note_end(JobBatch& batch, const std::vector<OutsideTry>& tries, size_t number, JobEnd end) const {
  const bool known = number < tries.size() && !tries[number].kind.empty();
  // The facts in a refused token may be invented.
  if (!known || end == JobEnd::lost) return batch.ended(std::nullopt, end, std::nullopt);
  const OutsideTry& one = tries[number];
  const Duration took = clock_.wall() - one.claimed_at;
  if (took < -clock_difference || took > longest_try) return batch.ended(one.throttle_key, end, std::nullopt);
  const Duration counted = std::max(took, Duration{0});
  observe_duration(one.kind, enum_name(end), counted);
  batch.ended(one.throttle_key, end, counted);
}

OutsideTry Jobs::try_of(const ClaimedJob& claimed) const {
  return {claimed.token, claimed.kind, claimed.throttle_key, clock_.wall()};
}

Task<std::vector<ClaimedJob>> Jobs::claim(ClaimRequest request, Duration wait, std::function<bool()> gone) {
  const Instant end = clock_.now() + wait;
  const Executor executor = co_await asio::this_coro::executor;
  messaging::Bell::Listener listener = bell_.listen(executor);
  Duration pause = shortest_pause;
  while (!(gone && gone())) {
    std::vector<ClaimedJob> claimed = co_await take(request);
    if (!claimed.empty() && gone && gone()) {
      std::vector<LockedJob> unwanted = locks_of(claimed);
      co_await give_back(std::move(unwanted));
      break;
    }
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
  co_return std::vector<ClaimedJob>{};
}

Task<std::vector<ClaimedJob>> Jobs::take(ClaimRequest request) {
  std::vector<ClaimedJob> all;
  ByteBudget budget(request.limit);
  for (request.limit = budget.next(); request.limit > 0; request.limit = budget.next()) {
    std::vector<ClaimedJob> some;
    try {
      some = co_await store_.claim(request);
    } catch (const EngineUnavailable&) {
      if (all.empty()) throw;
      break;  // the jobs claimed so far are ours
    }
    size_t bytes = 0;
    for (const ClaimedJob& job : some) bytes += job.payload.size();
    budget.took(some.size(), bytes);
    std::ranges::move(some, std::back_inserter(all));
    if (some.size() < request.limit) break;
  }
  co_return all;
}

Task<> Jobs::give_back(std::vector<LockedJob> jobs) {
  std::vector<Failure> failures;
  for (const LockedJob& job : jobs) failures.push_back({.job = job, .error = never_heard, .released = true});
  co_await store_.fail(std::move(failures));
  added();
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
