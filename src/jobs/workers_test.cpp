#include "jobs/workers.h"

#include "jobs/job_request.h"
#include "jobs/testing/workers_fixture.h"

namespace sluice::jobs {
namespace {

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
  EXPECT_EQ(job(broken).error, "its result is not valid JSON");
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

TEST_F(WorkersTest, no_more_is_claimed_while_the_results_of_a_batch_wait_to_be_written) {
  config.batch = 10;
  config.concurrency = 1'000;
  store.takes = 1ms;
  store.completing_takes = 1s;
  for (int i = 0; i < 1'000; ++i) add();
  start([](JobRun) { return say(JobOutcome::done()); });
  pass(2'500ms);
  EXPECT_GE(store.count(JobStatus::succeeded), 20U);
  EXPECT_LE(store.count(JobStatus::running), 40U);  // two batches that are being written, and two behind them
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

}  // namespace
}  // namespace sluice::jobs
