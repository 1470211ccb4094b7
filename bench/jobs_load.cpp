#include "bench/jobs_load.h"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>

#include "jobs/job_upkeep.h"
#include "jobs/jobs.h"
#include "jobs/workers.h"
#include "runtime/system_clock.h"

namespace sluice::bench {
namespace {

constexpr Duration idle_time = 30ms;

void die_of_errors(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

// Jobs that are left, and where those wait for whom there is nothing to claim until others have completed.
struct Left {
  size_t count;
  Wakeup changed;
};

Task<> do_jobs(jobs::JobStore& store, size_t at_once, Left& left) {
  const jobs::ClaimRequest request{.worker = "bench", .kinds = {kind}, .limit = at_once};
  while (left.count > 0) {
    const std::vector<jobs::ClaimedJob> claimed = co_await store.claim(request);
    if (claimed.empty()) {
      if (left.count > 0) co_await left.changed.wait();
      continue;
    }
    std::vector<jobs::Completion> completions;
    for (const jobs::ClaimedJob& job : claimed) {
      completions.push_back({.job = {job.id, job.token}, .kind = job.kind, .throttle_key = job.throttle_key});
    }
    co_await store.complete(std::move(completions));
    left.count -= claimed.size();
    left.changed.notify_all();
  }
}

// Workers on this thread, with upkeep beside them as in the server, whose handler does nothing but tell of it.
class NoopWorkers {
 public:
  NoopWorkers(asio::io_context& io, jobs::JobStore& store, const jobs::JobKinds& kinds, jobs::WorkersConfig config)
      : io_(io),
        adder_(store, bell_, clock_),
        workers_({store, kinds, bell_, clock_, random_}, config, "bench", handlers(), io_.get_executor()),
        upkeep_(store, bell_, clock_, random_, 7 * 24h),
        upkeep_scope_(io_.get_executor()),
        begun_(io_.get_executor()) {
    workers_.start();
    upkeep_.start(upkeep_scope_);
  }

  // Runs until so many have begun and their results are written.
  void run_until(size_t count) { run_here(io_, stop_after(count)); }

  std::vector<double> delays_of(size_t samples) {
    std::vector<double> delays;
    run_here(io_, add_singly(samples, delays));
    return delays;
  }

 private:
  jobs::JobHandlers handlers() {
    jobs::JobHandlers handlers;
    handlers.add(kind, [this](jobs::JobRun) { return begin(); });
    return handlers;
  }
  Task<jobs::JobOutcome> begin() {
    ++count_;
    last_begun_ = SteadyClock::now();
    begun_.notify_all();
    co_return jobs::JobOutcome::done();
  }
  Task<> stop_after(size_t count) {
    while (count_ < count) co_await begun_.wait();
    co_await stop();
  }
  Task<> stop() {
    co_await workers_.stop();
    co_await upkeep_scope_.close();
  }
  Task<> add_singly(size_t samples, std::vector<double>& delays) {
    for (size_t i = 1; i <= samples; ++i) {
      co_await clock_.sleep_for(idle_time);
      const auto added = SteadyClock::now();
      std::vector<jobs::NewJob> one(1, {.kind = kind, .payload = "{}"});
      co_await adder_.enqueue(std::move(one));
      while (count_ < i) co_await begun_.wait();
      delays.push_back(std::chrono::duration<double>(last_begun_ - added).count());
    }
    co_await stop();
  }

  asio::io_context& io_;
  SystemClock clock_;
  SeededRandom random_{1};
  messaging::Bell bell_;
  jobs::Jobs adder_;
  jobs::Workers workers_;
  jobs::JobUpkeep upkeep_;
  TaskScope upkeep_scope_;
  Wakeup begun_;
  size_t count_ = 0;
  SteadyClock::time_point last_begun_;
};

}  // namespace

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run_here(asio::io_context& io, Task<> task) {
  asio::co_spawn(io, std::move(task), die_of_errors);
  io.restart();
  io.run();
}

Task<> add_jobs(jobs::JobStore& store, size_t count, JobShape shape) {
  const SystemClock clock;
  while (count > 0) {
    const size_t some = std::min<size_t>(count, 10'000);
    std::vector<jobs::NewJob> jobs(some, {.kind = kind, .payload = "{}"});
    for (size_t i = 0; i < some; ++i) {
      // Neighbours have distant keys.
      if (shape.keys > 0) jobs[i].throttle_key = throttle_key((count - i) * 7'919 % shape.keys);
      if (shape.some_later && i % 10 == 0) jobs[i].run_after = clock.wall() + 200ms;
    }
    co_await store.enqueue(std::move(jobs));
    count -= some;
  }
}

std::string throttle_key(size_t number) {
  return "host-" + std::to_string(number) + ".example";
}

double work_off(asio::io_context& io, jobs::JobStore& store, size_t count, Loops how) {
  Left left{count, Wakeup(io.get_executor())};
  const auto start = SteadyClock::now();
  for (int i = 0; i < how.count; ++i) asio::co_spawn(io, do_jobs(store, how.at_once, left), die_of_errors);
  io.restart();
  io.run();
  return static_cast<double>(count) / seconds_since(start);
}

double work_off_by_workers(asio::io_context& io, jobs::JobStore& store, const jobs::JobKinds& kinds, size_t count) {
  const auto start = SteadyClock::now();
  NoopWorkers(io, store, kinds, {.batch = jobs_at_once, .concurrency = 2 * jobs_at_once}).run_until(count);
  return static_cast<double>(count) / seconds_since(start);
}

std::vector<double> start_delays(asio::io_context& io, jobs::JobStore& store, const jobs::JobKinds& kinds,
                                 size_t samples) {
  std::vector<double> delays = NoopWorkers(io, store, kinds, {}).delays_of(samples);
  std::ranges::sort(delays);
  return delays;
}

}  // namespace sluice::bench
