// Workers in virtual time, on a store in memory.
#pragma once

#include <gtest/gtest.h>

#include "jobs/testing/pretend_job_store.h"
#include "jobs/workers.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {

class WorkersTest : public testing::Test {
 protected:
  using Handle = std::function<Task<JobOutcome>(JobRun)>;

  void TearDown() override {
    store.away = false;
    stop();
  }
  void run(Task<> task) {
    bool ended = false;
    asio::co_spawn(io, std::move(task), [&ended](const std::exception_ptr& error) {
      ended = true;
      if (error) std::rethrow_exception(error);
    });
    for (int i = 0; i < 100'000 && !ended; ++i) pass(i < 10 ? 0ms : 10ms);
    ASSERT_TRUE(ended);
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }

  void start(Handle handle) {
    handler = std::move(handle);
    JobHandlers handlers;
    handlers.add("mail", [this](JobRun job) { return work(std::move(job)); });
    const JobKinds& known = kinds;
    workers = std::make_unique<Workers>(Workers::Parts{store, known, bell, clock, random}, config, "me",
                                        std::move(handlers), io.get_executor());
    workers->start();
  }
  void stop() {
    if (workers) run(ask_to_stop());
    workers.reset();
  }
  Task<> ask_to_stop() {
    const bool stopped = co_await workers->stop();
    EXPECT_TRUE(stopped);
  }
  JobId add(std::string payload = "{}") { return store.add({.kind = "mail", .payload = std::move(payload)}); }
  const PretendJobStore::Kept& job(JobId id) const { return store.jobs.at(id); }

  Task<JobOutcome> work(JobRun run) {
    begun.push_back(run.payload);
    most_at_once = std::max(most_at_once, ++at_once);
    const auto leave = [this](void*) { --at_once; };
    const std::unique_ptr<void, decltype(leave)> left(this, leave);
    Task<JobOutcome> asked = handler(std::move(run));
    JobOutcome outcome = co_await std::move(asked);
    co_return outcome;
  }
  Task<> stop_into(std::optional<bool>& stopped) { stopped = co_await workers->stop(); }
  static Task<JobOutcome> say(JobOutcome outcome) { co_return outcome; }
  Task<JobOutcome> after(Duration duration, JobOutcome outcome = JobOutcome::done()) {
    co_await clock.sleep_for(duration);
    co_return outcome;
  }
  // Does not heed being cancelled.
  Task<JobOutcome> insist(Duration duration) {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await clock.sleep_for(duration);
    co_return JobOutcome::done();
  }
  static Task<JobOutcome> miss_the_database() {
    throw EngineUnavailable("database", "away");
    co_return JobOutcome::done();
  }
  static Task<JobOutcome> explode() {
    throw std::runtime_error("boom");
    co_return JobOutcome::done();
  }

  asio::io_context io;
  VirtualClock clock;
  SeededRandom random{1};
  PretendJobStore store{clock};
  JobKinds kinds{{{"mail", JobKind{.timeout = 1h, .lock_ttl = 30s}}}};
  messaging::Bell bell;
  WorkersConfig config;
  Handle handler;
  std::unique_ptr<Workers> workers;
  std::vector<std::string> begun;
  int at_once = 0;
  int most_at_once = 0;
};

}  // namespace sluice::jobs
