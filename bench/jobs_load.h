// No-op jobs, added and done through the store: the load of the benchmarks of jobs.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/sql/sql_job_store.h"

namespace sluice::bench {

using SteadyClock = std::chrono::steady_clock;

inline constexpr size_t jobs_at_once = 100;
inline constexpr int loops = 4;
inline const std::string kind = "noop";

inline double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline void die_of_errors(const std::exception_ptr& error) {
  if (error) std::rethrow_exception(error);
}

inline void run_here(Task<> task) {
  asio::io_context io;
  asio::co_spawn(io, std::move(task), die_of_errors);
  io.run();
}

inline Task<> add_jobs(jobs::JobStore& store, size_t count) {
  while (count > 0) {
    const size_t some = std::min<size_t>(count, 10'000);
    std::vector<jobs::NewJob> jobs(some, {.kind = kind, .payload = "{}"});
    co_await store.enqueue(std::move(jobs));
    count -= some;
  }
}

// Claims and completes until nothing is left or the time is over; adds to `done`.
inline Task<> do_jobs(jobs::JobStore& store, SteadyClock::time_point end, size_t& done) {
  const jobs::ClaimRequest request{.worker = "bench", .kinds = {kind}, .limit = jobs_at_once};
  while (SteadyClock::now() < end) {
    const std::vector<jobs::ClaimedJob> claimed = co_await store.claim(request);
    if (claimed.empty()) co_return;
    std::vector<jobs::Completion> completions;
    for (const jobs::ClaimedJob& job : claimed) completions.push_back({.job = {job.id, job.token}});
    co_await store.complete(std::move(completions));
    done += claimed.size();
  }
}

// Jobs a second, by so many loops at once.
inline double work_off(jobs::JobStore& store, SteadyClock::duration at_most = std::chrono::hours(1)) {
  asio::io_context io;
  size_t done = 0;
  const auto start = SteadyClock::now();
  for (int i = 0; i < loops; ++i) asio::co_spawn(io, do_jobs(store, start + at_most, done), die_of_errors);
  io.run();
  return static_cast<double>(done) / seconds_since(start);
}

}  // namespace sluice::bench
