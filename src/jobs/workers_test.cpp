#include "jobs/workers.h"

#include <gtest/gtest.h>

#include "jobs/job_request.h"
#include "jobs/pretend_job_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

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

TEST_F(WorkersTest, a_batch_runs_side_by_side_and_is_written_back_at_once) {
  for (int i = 0; i < 10; ++i) add();
  start([this](JobRun) { return after(1s, JobOutcome::done(R"({"sent":1})")); });
  pass(1500ms);
  EXPECT_EQ(most_at_once, 10);
  EXPECT_EQ(store.count(JobStatus::succeeded), 10U);
  EXPECT_EQ(store.batches, std::vector<size_t>{10});
  EXPECT_EQ(store.jobs.begin()->second.result, R"({"sent":1})");
}

TEST_F(WorkersTest, never_more_run_than_allowed) {
  config = {.batch = 4, .concurrency = 6};
  for (int i = 0; i < 50; ++i) add();
  start([this](JobRun) { return after(100ms); });
  pass(10s);
  EXPECT_EQ(most_at_once, 6);
  EXPECT_EQ(store.count(JobStatus::succeeded), 50U);
}

TEST_F(WorkersTest, a_handler_gets_payload_attempt_deadline_and_a_stop_token) {
  add(R"({"to":"a"})");
  start([this](const JobRun& run) {
    EXPECT_EQ(run.payload, R"({"to":"a"})");
    EXPECT_EQ(run.attempt, 1);
    EXPECT_EQ(run.deadline.left(clock), 1h);
    EXPECT_TRUE(run.stop.stop_possible());
    EXPECT_FALSE(run.stop.stop_requested());
    return say(JobOutcome::done());
  });
  pass(1s);
  EXPECT_EQ(begun.size(), 1U);
}

TEST_F(WorkersTest, a_failure_is_written_with_its_reason) {
  const JobId soft = add("soft");
  const JobId hard = add("hard");
  const JobId thrown = add("thrown");
  start([](const JobRun& run) {
    if (run.payload == "soft") return say(JobOutcome::failed("no route"));
    if (run.payload == "hard") return say(JobOutcome::dead("no such mailbox"));
    return explode();
  });
  pass(1s);
  EXPECT_EQ(job(soft).status, JobStatus::failed);
  EXPECT_EQ(job(soft).error, "no route");
  EXPECT_EQ(job(hard).status, JobStatus::dead);
  EXPECT_EQ(job(thrown).error, "boom");
}

TEST_F(WorkersTest, a_long_job_keeps_its_lock) {
  const JobId id = add();
  start([this](JobRun) { return after(5min); });
  pass(6min);
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
  EXPECT_NEAR(store.renewals, 30, 2);
}

TEST_F(WorkersTest, a_job_whose_lock_was_lost_is_stopped_and_nothing_is_written) {
  const JobId id = add();
  std::stop_token token;
  start([this, &token](const JobRun& run) {
    token = run.stop;
    return after(5min);
  });
  pass(1s);
  store.steal(id);
  pass(10s);
  EXPECT_EQ(at_once, 0);
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(workers->running(), 0U);
  EXPECT_EQ(job(id).status, JobStatus::running);
}

TEST_F(WorkersTest, a_job_whose_lock_cannot_be_renewed_is_stopped_before_another_can_have_it) {
  add();
  start([this](JobRun) { return after(5min); });
  pass(1s);
  store.away = true;
  pass(28s);
  EXPECT_EQ(at_once, 1);
  pass(1s);
  EXPECT_EQ(at_once, 0);
}

TEST_F(WorkersTest, a_job_that_takes_too_long_has_failed) {
  kinds = JobKinds({{"mail", JobKind{.timeout = 2s}}});
  const JobId id = add();
  start([this](JobRun) { return after(1min); });
  pass(2100ms);
  EXPECT_EQ(job(id).status, JobStatus::failed);
  EXPECT_EQ(job(id).error, "it took longer than 2s");
}

TEST_F(WorkersTest, a_database_that_is_away_costs_no_try) {
  for (int i = 0; i < 30; ++i) add();
  start([](JobRun) { return miss_the_database(); });
  pass(500ms);
  EXPECT_EQ(begun.size(), 10U) << "nothing more is tried meanwhile";
  EXPECT_EQ(store.count(JobStatus::running), 10U);
  pass(1s);
  EXPECT_EQ(begun.size(), 20U);
  pass(2s);
  EXPECT_EQ(store.count(JobStatus::failed), 30U);
  for (const auto& [id, kept] : store.jobs) {
    EXPECT_EQ(kept.attempts, 0);
    EXPECT_EQ(kept.error, "database: away");
  }
}

TEST_F(WorkersTest, a_worker_that_waits_for_its_database_stops_at_once) {
  const JobId id = add();
  config.drain = 0ms;
  start([](JobRun) { return miss_the_database(); });
  pass(500ms);
  const Instant asked = clock.now();
  stop();
  EXPECT_LT(clock.now() - asked, 500ms);
  EXPECT_EQ(job(id).status, JobStatus::failed);
  EXPECT_EQ(job(id).attempts, 0);
}

TEST_F(WorkersTest, a_job_that_goes_on_after_its_time_does_not_keep_its_lock) {
  kinds = JobKinds({{"mail", JobKind{.timeout = 2s, .lock_ttl = 30s}}});
  const JobId id = add();
  start([this](JobRun) { return insist(5min); });
  pass(4min);
  EXPECT_EQ(store.renewals, 0);
  EXPECT_EQ(workers->running(), 1U);
  store.steal(id);
  pass(2min);
  EXPECT_EQ(workers->running(), 0U);
  EXPECT_EQ(job(id).status, JobStatus::running);
}

TEST_F(WorkersTest, stopping_does_not_wait_for_ever_for_a_job_that_does_not_heed_it) {
  add();
  start([this](JobRun) { return insist(1h); });
  pass(1s);
  const Instant asked = clock.now();
  std::optional<bool> stopped;
  run(stop_into(stopped));
  EXPECT_EQ(stopped, false);
  EXPECT_LT(clock.now() - asked, 30s);
  pass(1h);
}

TEST_F(WorkersTest, results_are_kept_while_the_store_is_away) {
  const JobId id = add();
  start([this](JobRun) { return after(1s); });
  pass(500ms);
  store.away = true;
  pass(5s);
  EXPECT_EQ(at_once, 0);
  store.away = false;
  pass(5s);
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
  EXPECT_EQ(begun.size(), 1U);
}

TEST_F(WorkersTest, a_store_that_refuses_everything_is_asked_again_later) {
  const JobId running = add();
  start([this](JobRun) { return after(1s); });
  pass(500ms);
  store.refuses = true;
  const int before = store.claims;
  pass(20s);
  EXPECT_LT(store.claims - before, 60);
  const JobId waiting = add();
  store.refuses = false;
  pass(7s);
  EXPECT_EQ(job(running).status, JobStatus::succeeded);
  EXPECT_EQ(job(waiting).status, JobStatus::succeeded);
}

TEST_F(WorkersTest, a_result_that_cannot_be_kept_is_a_failure_and_holds_nobody_up) {
  const JobId broken = add("broken");
  const JobId large = add("large");
  const JobId fine = add("fine");
  start([](const JobRun& run) {
    if (run.payload == "broken") return say(JobOutcome::done("{\"half\":"));
    if (run.payload == "large") return say(JobOutcome::done("\"" + std::string(max_result_bytes, 'x') + "\""));
    return say(JobOutcome::done("7"));
  });
  pass(1s);
  EXPECT_EQ(job(broken).status, JobStatus::failed);
  EXPECT_EQ(job(broken).error, "its result is no JSON");
  EXPECT_EQ(job(large).status, JobStatus::failed);
  EXPECT_EQ(job(large).error, "its result exceeds 1MiB");
  EXPECT_EQ(job(fine).result, "7");
}

TEST_F(WorkersTest, claims_go_on_as_soon_as_results_are_written) {
  store.takes = 1ms;
  store.completing_takes = 50ms;
  for (int i = 0; i < 200; ++i) add();
  start([](JobRun) { return say(JobOutcome::done()); });
  pass(1100ms);
  EXPECT_EQ(store.count(JobStatus::succeeded), 200U);
  EXPECT_LT(store.claims, 30);
}

TEST_F(WorkersTest, idle_workers_look_less_and_less_often_and_begin_at_the_bell) {
  start([](JobRun) { return say(JobOutcome::done()); });
  pass(1min);
  EXPECT_LT(store.claims, 130);
  EXPECT_GT(store.claims, 50);
  const JobId rung = add();
  bell.ring();
  pass(1ms);
  EXPECT_EQ(job(rung).status, JobStatus::succeeded);
  pass(1min);
  const JobId quiet = add();
  pass(1100ms);
  EXPECT_EQ(job(quiet).status, JobStatus::succeeded);
}

TEST_F(WorkersTest, stopping_lets_jobs_end) {
  const JobId id = add();
  start([this](JobRun) { return after(3s); });
  pass(1s);
  stop();
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
}

TEST_F(WorkersTest, stopping_waits_for_a_claim_that_is_under_way) {
  store.takes = 100ms;
  const JobId id = add();
  start([](JobRun) { return say(JobOutcome::done()); });
  pass(50ms);
  stop();
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
}

TEST_F(WorkersTest, a_job_that_outlasts_the_drain_is_cancelled_and_handed_back_with_all_its_tries) {
  const JobId id = add();
  start([this](JobRun) { return after(1h); });
  pass(1s);
  stop();
  EXPECT_EQ(job(id).status, JobStatus::failed);
  EXPECT_EQ(job(id).error, "its worker was stopped");
  EXPECT_EQ(job(id).attempts, 0);
}

}  // namespace
}  // namespace sluice::jobs
