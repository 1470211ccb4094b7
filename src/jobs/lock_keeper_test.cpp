#include "jobs/lock_keeper.h"

#include "jobs/testing/workers_fixture.h"

namespace sluice::jobs {
namespace {

using LockKeeperTest = WorkersTest;

TEST_F(LockKeeperTest, a_long_job_keeps_its_lock) {
  const JobId id = add();
  start([this](JobRun) { return after(5min); });
  pass(6min);
  EXPECT_EQ(job(id).status, JobStatus::succeeded);
  EXPECT_NEAR(store.renewals, 30, 2);
}

TEST_F(LockKeeperTest, a_job_whose_lock_was_lost_is_stopped_and_nothing_is_written) {
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

TEST_F(LockKeeperTest, a_job_whose_lock_cannot_be_renewed_is_stopped_before_another_can_have_it) {
  add();
  start([this](JobRun) { return after(5min); });
  pass(1s);
  store.away = true;
  pass(28s);
  EXPECT_EQ(at_once, 1);
  pass(1s);
  EXPECT_EQ(at_once, 0);
}

TEST_F(LockKeeperTest, a_job_that_takes_too_long_has_failed) {
  kinds = JobKinds({{"mail", JobKind{.timeout = 2s}}});
  const JobId id = add();
  start([this](JobRun) { return after(1min); });
  pass(2100ms);
  EXPECT_EQ(job(id).status, JobStatus::failed);
  EXPECT_EQ(job(id).error, "it took longer than 2s");
}

TEST_F(LockKeeperTest, a_job_that_goes_on_after_its_time_does_not_keep_its_lock) {
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

}  // namespace
}  // namespace sluice::jobs
