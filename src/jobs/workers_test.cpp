#include "jobs/workers.h"

#include <gtest/gtest.h>

#include "jobs/job_upkeep.h"
#include "jobs/jobs.h"
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
    if (workers) run(workers->stop());
    workers.reset();
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
  static Task<JobOutcome> say(JobOutcome outcome) { co_return outcome; }
  Task<JobOutcome> after(Duration duration, JobOutcome outcome = JobOutcome::done()) {
    co_await clock.sleep_for(duration);
    co_return outcome;
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

TEST_F(WorkersTest, upkeep_tends_every_second_and_purges_until_nothing_is_left) {
  store.old = 2'500;
  TaskScope scope(io.get_executor());
  JobUpkeep upkeep(store, bell, clock, random, 7 * 24h);
  upkeep.start(scope);
  pass(10500ms);
  EXPECT_EQ(store.tended, 11);
  EXPECT_EQ(store.old, 0U);
  run(scope.close());
}

TEST_F(WorkersTest, a_claim_from_outside_waits_for_the_first_job) {
  Jobs jobs(store, bell, clock);
  TaskScope scope(io.get_executor());
  std::optional<Instant> answered;
  size_t got = 0;
  const auto ask = [](Jobs& from, size_t& count, std::optional<Instant>& when, Clock& time) -> Task<> {
    ClaimRequest request{.worker = "outside", .kinds = {"mail"}};
    const std::vector<ClaimedJob> claimed = co_await from.claim(std::move(request), 30s);
    count = claimed.size();
    when = time.now();
  };
  scope.spawn("claim", ask(jobs, got, answered, clock));
  pass(5s);
  EXPECT_FALSE(answered);
  const Instant added = clock.now();
  add();
  bell.ring();
  pass(100ms);
  ASSERT_TRUE(answered);
  EXPECT_LE(*answered - added, 20ms);
  EXPECT_EQ(got, 1U);

  answered.reset();
  scope.spawn("claim", ask(jobs, got, answered, clock));
  pass(29s);
  EXPECT_FALSE(answered);
  pass(2s);
  EXPECT_TRUE(answered);
  EXPECT_EQ(got, 0U);

  answered.reset();
  scope.spawn("claim", ask(jobs, got, answered, clock));
  pass(1s);
  jobs.end_waits();
  pass(100ms);
  EXPECT_TRUE(answered);
  run(scope.close());
}

}  // namespace
}  // namespace sluice::jobs
