// How workers end: with all that runs, in bounded time.
#include "jobs/testing/workers_fixture.h"

namespace sluice::jobs {
namespace {

using WorkerStopsTest = WorkersTest;

TEST_F(WorkerStopsTest, a_worker_that_waits_for_its_database_stops_at_once) {
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

TEST_F(WorkerStopsTest, stopping_does_not_wait_for_ever_for_a_job_that_does_not_heed_it) {
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

TEST_F(WorkerStopsTest, stopping_lets_jobs_end) {
  const JobId id = add();
  start([this](JobRun) { return after(3s); });
  pass(1s);
  stop();
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
}

TEST_F(WorkerStopsTest, stopping_waits_for_a_claim_that_is_under_way) {
  store.takes = 100ms;
  const JobId id = add();
  start([](JobRun) { return say(JobOutcome::done()); });
  pass(50ms);
  stop();
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
}

TEST_F(WorkerStopsTest, a_job_that_outlasts_the_drain_is_cancelled_and_handed_back_with_all_its_tries) {
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
