// No-op jobs, added and done through the store and through workers: the load of the benchmarks of jobs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "adapters/sql/jobs/sql_job_store.h"

namespace sluice::bench {

using SteadyClock = std::chrono::steady_clock;

inline constexpr size_t jobs_at_once = 2'000;  // as many as pg-boss, which is quickest so
inline constexpr int loops = 2;                // as many as the workers have: one claims while the other completes
inline const std::string kind = "noop";

double seconds_since(SteadyClock::time_point start);
double median(std::vector<double> values);

// These functions run on the caller's thread; `io` must outlive the database behind the store.

// Runs it to its end.
void run_here(asio::io_context& io, Task<> task);

struct JobShape {
  size_t keys = 0;  // throttle keys that the jobs are spread over; 0: they have none
  // Of each ten one becomes due a fifth of a second later.
  bool some_later = false;
};
Task<> add_jobs(jobs::JobStore& store, size_t count, JobShape shape = {});
std::string throttle_key(size_t number);

struct Loops {
  int count = loops;
  size_t at_once = jobs_at_once;
};
// Claims and completes by loops beside each other until `count` jobs are done; jobs a second.
double work_off(asio::io_context& io, jobs::JobStore& store, size_t count, Loops how = {});

// The same by workers as the server has them; there must be `count` jobs.
double work_off_by_workers(asio::io_context& io, jobs::JobStore& store, const jobs::JobKinds& kinds, size_t count);

// Seconds from the call that adds a job to the start of its handler in idle workers of the same process, sorted.
std::vector<double> start_delays(asio::io_context& io, jobs::JobStore& store, const jobs::JobKinds& kinds,
                                 size_t samples);

}  // namespace sluice::bench
