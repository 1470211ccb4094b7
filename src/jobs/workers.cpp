#include "jobs/workers.h"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/json_reader.h"
#include "base/size.h"
#include "jobs/job_metrics.h"
#include "jobs/job_request.h"
#include "runtime/errors.h"
#include "runtime/log.h"

namespace sluice::jobs {
namespace {

constexpr Backoff while_away{.first = 100ms, .factor = 2, .max = 5s};
// Time for cancelled jobs to end, and then for the last results.
constexpr Duration last_words = 5s;
constexpr Duration shortest_rest = 100ms;

// A claim is under way as long as this exists.
class Claiming {
 public:
  Claiming(bool& flag, Wakeup& ended) : flag_(flag), ended_(ended) { flag_ = true; }
  ~Claiming() {
    flag_ = false;
    ended_.notify_all();
  }
  Claiming(const Claiming&) = delete;
  Claiming& operator=(const Claiming&) = delete;

 private:
  bool& flag_;
  Wakeup& ended_;
};

// A result that the store refuses must not spoil the batch that it is written with.
JobOutcome keepable(JobOutcome outcome) {
  if (!outcome.result) return outcome;
  if (outcome.result->size() > max_result_bytes) {
    return JobOutcome::failed("its result exceeds " + format_size({max_result_bytes}));
  }
  if (!json::Document::parse(*outcome.result)) return JobOutcome::failed("its result is not valid JSON");
  return outcome;
}

}  // namespace

Workers::Workers(Parts parts, WorkersConfig config, std::string worker, JobHandlers handlers, Executor executor)
    : parts_(parts),
      config_(config),
      worker_(std::move(worker)),
      handlers_(std::move(handlers)),
      executor_(std::move(executor)),
      new_work_(parts.bell.listen(executor_)),
      locks_(parts.store, parts.kinds, parts.clock, parts.random, in_hand_, executor_),
      changed_(executor_),
      write_back_({parts.store, parts.bell, in_hand_, changed_, parts.clock, parts.failures}, executor_),
      poll_(config.poll_min),
      claims_(executor_),
      upkeep_(executor_) {}

void Workers::start() {
  if (handlers_.empty()) return;
  for (const std::string& kind : handlers_.kinds()) keep_kind(kind);
  const auto loop = [this](TaskScope& scope, const char* name, std::function<Task<>()> round) {
    scope.spawn(name, run_forever(name, parts_.clock, parts_.random, std::move(round), while_away));
  };
  locks_.start(upkeep_);
  loop(upkeep_, "job results", [this] { return write_back_.round(); });
  loop(claims_, "job claims", [this] { return claim_round(); });
}

Task<bool> Workers::stop() {
  stopping_ = true;
  const Instant end = parts_.clock.now() + config_.drain;
  // A claim that is under way may have been committed: its jobs are ours.
  while (claiming_ && parts_.clock.now() < end) co_await changed_.wait_until(parts_.clock, end);
  co_await claims_.close();
  co_await wait_until_none_run(end);

  for (auto at = in_hand_.running.begin(); at != in_hand_.running.end();) (at++)->cancel();
  const Instant ended = parts_.clock.now() + last_words;
  co_await wait_until_none_run(ended);
  const Instant last = parts_.clock.now() + last_words;
  while (!in_hand_.ended.empty() && parts_.clock.now() < last) co_await changed_.wait_until(parts_.clock, last);
  co_await upkeep_.close();
  for (RunningJob& job : in_hand_.ended) co_await job.scope.join();
  if (!in_hand_.ended.empty()) {
    log::warning("results of jobs could not be stored; the jobs will run again", {{"jobs", in_hand_.ended.size()}});
  }
  in_hand_.ended.clear();
  for (const RunningJob& job : in_hand_.running) {
    log::error("a job did not stop when it was cancelled", {{"job", job.job.id.text()}, {"kind", job.job.kind}});
  }
  co_return in_hand_.running.empty();
}

Task<> Workers::wait_until_none_run(Instant end) {
  while (!in_hand_.running.empty() && parts_.clock.now() < end) co_await changed_.wait_until(parts_.clock, end);
}

// Claims and results overlap. While the results of a whole batch wait behind those that are being written, nothing is
// claimed: more jobs would only wait as well, under locks that have to be renewed meanwhile.
size_t Workers::places() const {
  if (in_hand_.waiting_to_be_written() >= config_.batch) return 0;
  const size_t most = config_.places();
  return most - std::min(most, in_hand_.running.size());
}

Task<> Workers::claim_round() {
  const size_t limit = std::min(config_.batch, places());
  if (stopping_ || limit == 0) {
    const Instant when = parts_.clock.now() + config_.poll_max;
    co_await changed_.wait_until(parts_.clock, when);
    co_return;
  }
  const Instant asked_at = parts_.clock.now();
  std::vector<ClaimedJob> claimed = co_await claim(limit);
  const bool more = claimed.size() == limit;
  if (!claimed.empty()) poll_ = config_.poll_min;
  if (!claimed.empty()) begin(std::move(claimed), asked_at);
  if (!more) co_await wait_for_work();
}

Task<std::vector<ClaimedJob>> Workers::claim(size_t limit) {
  const Claiming until_answered(claiming_, changed_);
  ClaimRequest request{.worker = worker_, .kinds = handlers_.kinds(), .limit = limit};
  std::vector<ClaimedJob> claimed = co_await parts_.store.claim(std::move(request));
  co_return claimed;
}

Task<> Workers::wait_for_work() {
  const auto half = static_cast<uint64_t>(poll_.count() / 2);
  const Duration delay{static_cast<int64_t>(half + parts_.random.below(half + 1))};
  poll_ = std::min(poll_ * 2, config_.poll_max);
  const Instant when = parts_.clock.now() + delay;
  co_await new_work_.wait_until(parts_.clock, when);
}

void Workers::begin(std::vector<ClaimedJob> claimed, Instant asked_at) {
  count_claimed(claimed.size());
  const auto batch = std::make_shared<JobBatch>(claimed.size());
  const Instant now = parts_.clock.now();
  for (ClaimedJob& job : claimed) {
    const Duration timeout = parts_.kinds.of(job.kind).timeout;
    const auto at = in_hand_.running.emplace(in_hand_.running.end(), std::move(job), batch, executor_);
    at->started = now;
    at->deadline = {now + timeout};
    locks_.take(*at, asked_at);
    at->scope.spawn("job", run(at));
  }
  locks_.look();
}

Task<> Workers::run(std::list<RunningJob>::iterator running) {
  JobOutcome outcome;
  std::optional<Duration> pause;
  try {
    co_await asio::post(executor_, asio::use_awaitable);  // a task starts on the caller's stack
    outcome = co_await handle(*running);
    outcome = keepable(std::move(outcome));
  } catch (const EngineUnavailable& error) {
    // Our own engine is away: that is not the job's fault.
    outcome = JobOutcome::released(error.what());
    pause = std::max(error.retry_after(), shortest_rest);
  } catch (const std::exception& error) {
    outcome = JobOutcome::failed(error.what());
  }
  if (running->overdue) {
    const Duration timeout = parts_.kinds.of(running->job.kind).timeout;
    outcome = JobOutcome::failed(fmt::format("it took longer than {}", format_duration(timeout)));
  } else if (running->stop.stop_requested() && outcome.kind == JobOutcome::Kind::failed) {
    outcome = JobOutcome::released("its worker was stopped");
  } else if (pause) {
    co_await rest(*pause);
  }
  end(running, std::move(outcome));
}

// Keeps the job's place meanwhile: otherwise all waiting jobs would be claimed and given back, again and again.
Task<> Workers::rest(Duration pause) {
  try {
    co_await parts_.clock.sleep_for(pause);
  } catch (const boost::system::system_error&) {
    // It was told to stop, which it does.
  }
}

Task<JobOutcome> Workers::handle(RunningJob& running) {
  JobRun job{.id = running.job.id,
             .kind = running.job.kind,
             .payload = std::move(running.job.payload),
             .attempt = running.job.attempt,
             .max_attempts = running.job.max_attempts,
             .throttle_key = running.job.throttle_key,
             .deadline = running.deadline,
             .stop = running.stop.get_token()};
  return handlers_.of(running.job.kind)(std::move(job));
}

void Workers::end(std::list<RunningJob>::iterator running, JobOutcome outcome) {
  running->took = std::chrono::floor<Duration>(parts_.clock.now() - running->started);
  running->outcome = std::move(outcome);
  in_hand_.ended.splice(in_hand_.ended.end(), in_hand_.running, running);
  write_back_.look();
  changed_.notify_all();
}

}  // namespace sluice::jobs
