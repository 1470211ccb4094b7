#include "jobs/job_end.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

using How = Ending::How;
using Next = JobFate::Next;

const RetryDelays delays{.fixed = {1min, 5min}};

LiveJob running(int32_t attempts, int32_t max_attempts) {
  return {.id = {}, .kind = "kind", .running = true, .token = 7, .attempts = attempts, .max_attempts = max_attempts};
}

Ending ending(How how) {
  return {.job = {.id = {}, .token = 7}, .how = how, .error = "no answer"};
}

JobFate fate(const LiveJob& job, const Ending& ending) {
  SeededRandom random(1);
  return fate_of(job, ending, delays, random);
}

TEST(JobEnd, a_success_finishes_the_job_and_keeps_its_unique_key) {
  const JobFate done = fate(running(1, 2), ending(How::succeeded));
  EXPECT_EQ(done.next, Next::finished);
  EXPECT_EQ(done.status, JobStatus::succeeded);
  EXPECT_FALSE(done.attempt) << "the try that succeeded is on the job itself";
  EXPECT_FALSE(done.frees_unique_key);
}

TEST(JobEnd, a_failed_job_waits_longer_after_each_try) {
  const JobFate first = fate(running(1, 3), ending(How::failed));
  EXPECT_EQ(first.next, Next::waits);
  EXPECT_EQ(first.status, JobStatus::failed);
  EXPECT_EQ(first.attempt, "failed");
  EXPECT_EQ(first.delay, 1min);
  EXPECT_FALSE(first.takes_try_back);
  EXPECT_EQ(fate(running(2, 3), ending(How::failed)).delay, 5min);
}

TEST(JobEnd, the_last_try_that_fails_leaves_a_dead_job_without_unique_key) {
  const JobFate last = fate(running(3, 3), ending(How::failed));
  EXPECT_EQ(last.next, Next::finished);
  EXPECT_EQ(last.status, JobStatus::dead);
  EXPECT_EQ(last.attempt, "dead");
  EXPECT_TRUE(last.frees_unique_key);
}

TEST(JobEnd, a_permanent_failure_needs_no_further_try) {
  EXPECT_EQ(fate(running(1, 9), ending(How::failed_for_good)).status, JobStatus::dead);
}

TEST(JobEnd, a_lost_job_waits_without_delay) {
  const JobFate lost = fate(running(1, 2), ending(How::lost));
  EXPECT_EQ(lost.next, Next::waits);
  EXPECT_EQ(lost.attempt, "lost");
  EXPECT_EQ(lost.delay, 0s);
  EXPECT_FALSE(lost.takes_try_back) << "a crash was a try";
}

TEST(JobEnd, a_job_that_was_lost_in_its_last_try_is_dead) {
  const JobFate lost = fate(running(2, 2), ending(How::lost));
  EXPECT_EQ(lost.status, JobStatus::dead);
  EXPECT_EQ(lost.attempt, "lost");
}

TEST(JobEnd, a_released_job_gets_its_try_back_even_if_it_was_the_last) {
  const JobFate released = fate(running(2, 2), ending(How::released));
  EXPECT_EQ(released.next, Next::waits);
  EXPECT_EQ(released.delay, 0s);
  EXPECT_TRUE(released.takes_try_back);
  EXPECT_FALSE(released.attempt);
}

TEST(JobEnd, a_job_is_handed_on_without_costing_a_try) {
  Ending onward = ending(How::released);
  onward.onward = {.payload = "{}", .throttle_key = "b.example"};
  const JobFate handed_on = fate(running(1, 2), onward);
  EXPECT_EQ(handed_on.next, Next::handed_on);
  EXPECT_EQ(handed_on.status, JobStatus::failed);
  EXPECT_TRUE(handed_on.takes_try_back);
  EXPECT_FALSE(handed_on.frees_unique_key);
}

TEST(JobEnd, a_canceled_job_frees_its_unique_key) {
  EXPECT_EQ(fate_of_canceled().status, JobStatus::canceled);
  EXPECT_TRUE(fate_of_canceled().frees_unique_key);
}

TEST(JobEnd, only_the_try_that_runs_may_end_the_job) {
  EXPECT_EQ(verdict_on(running(1, 2), ending(How::failed)), Verdict::accepted);
  EXPECT_EQ(verdict_on({.id = {}, .kind = "kind", .running = true, .token = 8}, ending(How::failed)),
            Verdict::stale_lock);
  EXPECT_EQ(verdict_on({.id = {}, .kind = "kind", .running = false, .token = 7}, ending(How::failed)),
            Verdict::not_running);
}

TEST(JobEnd, a_lock_that_was_renewed_is_not_lost) {
  LiveJob job = running(1, 2);
  EXPECT_EQ(verdict_on(job, ending(How::lost)), Verdict::stale_lock);
  job.lock_expired = true;
  EXPECT_EQ(verdict_on(job, ending(How::lost)), Verdict::accepted);
}

TEST(JobEnd, a_failure_says_how_the_try_ended) {
  EXPECT_EQ(ending_of({.job = {}, .error = "e"}).how, How::failed);
  EXPECT_EQ(ending_of({.job = {}, .error = "e", .permanent = true}).how, How::failed_for_good);
  EXPECT_EQ(ending_of({.job = {}, .error = "e", .permanent = true, .released = true}).how, How::released);
}

}  // namespace
}  // namespace sluice::jobs
