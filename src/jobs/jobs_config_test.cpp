#include "jobs/jobs_config.h"

#include <gtest/gtest.h>

#include "runtime/config.h"

namespace sluice::jobs {
namespace {

class JobsSettings : public testing::Test {
 protected:
  std::vector<config::Problem> load(const std::string& text) {
    loader.section("jobs", jobs, "Jobs.");
    return loader.load({.file = "sluice.toml", .text = text});
  }
  const JobKind& kind() { return jobs.kinds.at("mail"); }

  JobsConfig jobs;
  config::Loader loader;
};

TEST_F(JobsSettings, a_kind_has_a_list_of_delays_and_a_throttle) {
  EXPECT_TRUE(load("[jobs.kinds.mail]\nmax_attempts = 4\nbackoff = [\"10s\", \"2m\"]\n"
                   "throttle = {concurrency = 5, per_second = 2}\nlock_ttl = \"30s\"\n")
                  .empty());
  EXPECT_EQ(kind().max_attempts, 4);
  EXPECT_EQ(kind().backoff.fixed, (std::vector<Duration>{10s, 2min}));
  EXPECT_EQ(kind().throttle.concurrency, 5);
  EXPECT_EQ(kind().throttle.per_second, 2);
  EXPECT_EQ(kind().lock_ttl, 30s);
  EXPECT_TRUE(loader.print().contains(R"(backoff = ["10s", "2m"])"));
}

TEST_F(JobsSettings, a_kind_has_growing_delays) {
  EXPECT_TRUE(load("[jobs.kinds.mail]\nbackoff = {first = \"2s\", factor = 3, max = \"1m\"}\n").empty());
  ASSERT_TRUE(kind().backoff.growing);
  EXPECT_EQ(kind().backoff.growing->first, 2s);
  EXPECT_EQ(kind().backoff.growing->factor, 3);
  EXPECT_EQ(kind().backoff.growing->max, 1min);
  EXPECT_TRUE(loader.print().contains(R"(backoff = {first = "2s", factor = 3.0, max = "1m"})"));
}

TEST_F(JobsSettings, a_kind_without_settings_is_tried_twice_and_waits_five_minutes) {
  EXPECT_TRUE(load("[jobs.kinds.mail]\n").empty());
  EXPECT_EQ(kind().max_attempts, 2);
  EXPECT_EQ(kind().backoff.fixed, std::vector<Duration>{5min});
  EXPECT_EQ(kind().throttle.concurrency, 2);
  EXPECT_EQ(kind().lock_ttl, 10min);
  EXPECT_EQ(jobs.workers.batch, 10U);
}

TEST_F(JobsSettings, a_batch_runs_side_by_side_whatever_its_size) {
  EXPECT_TRUE(load("[jobs.workers]\nbatch = 50\n").empty());
  EXPECT_EQ(jobs.workers.places(), 50U);
}

TEST_F(JobsSettings, fewer_places_than_a_batch_has_are_refused) {
  const auto problems = load("[jobs.workers]\nbatch = 50\nconcurrency = 20\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "jobs.workers.concurrency");
}

TEST_F(JobsSettings, a_schedule_that_cannot_be_is_refused) {
  const auto problems = load(
      "[jobs.recurring.good]\nschedule = \"0 9 * * mon\"\ntime_zone = \"Asia/Seoul\"\n"
      "[jobs.recurring.bad]\nschedule = \"daily\"\ntime_zone = \"Seoul\"\npayload = \"{\"\n");
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].key, "jobs.recurring.bad.schedule");
}

TEST_F(JobsSettings, a_schedule_without_a_date_that_exists_is_refused) {
  const auto problems = load(
      "[jobs.recurring.never]\nschedule = \"0 0 30 2 *\"\n"
      "[jobs.recurring.neither]\nschedule = \"0 0 31 4,6,9,11 *\"\n"
      "[jobs.recurring.seldom]\nschedule = \"0 0 29 2 *\"\n"
      "[jobs.recurring.either]\nschedule = \"0 0 30 2 mon\"\n");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].key, "jobs.recurring.never.schedule");
  EXPECT_EQ(problems[1].key, "jobs.recurring.neither.schedule");
}

TEST_F(JobsSettings, a_recurring_job_of_a_kind_too_long_for_a_job_is_refused) {
  const auto problems = load("[jobs.recurring.x]\nkind = \"" + std::string(101, 'k') + "\"\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].key, "jobs.recurring");
}

TEST_F(JobsSettings, delays_beyond_any_time_that_can_be_kept_are_refused) {
  const auto problems = load(
      "[jobs]\nretention = \"106751991d\"\n"
      "[jobs.kinds.a]\nbackoff = [\"1m\", \"106751991d\"]\n"
      "[jobs.kinds.b]\nbackoff = {first = \"1m\", max = \"106751991d\"}\n"
      "[jobs.kinds.c]\ntimeout = \"106751991d\"\n"
      "[jobs.kinds.d]\nbackoff = [\"366d\"]\n");
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].key, "jobs.retention");
  EXPECT_EQ(problems[1].key, "jobs.kinds.a.backoff");
  EXPECT_EQ(problems[2].key, "jobs.kinds.b.backoff");
  EXPECT_EQ(problems[3].key, "jobs.kinds.c.timeout");
}

TEST_F(JobsSettings, a_rate_below_one_start_a_day_is_refused) {
  const auto problems = load(
      "[jobs.kinds.daily]\nthrottle = {per_second = 0.0000116}\n"
      "[jobs.kinds.weekly]\nthrottle = {per_second = 0.00000165}\n"
      "[jobs.kinds.never]\nthrottle = {per_second = 1e-300}\n");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].key, "jobs.kinds");
  EXPECT_TRUE(problems[0].message.contains("throttle.per_second of never")) << problems[0].message;
}

TEST_F(JobsSettings, delays_that_cannot_be_are_refused) {
  const auto problems = load(
      "[jobs.kinds.a]\nbackoff = []\n[jobs.kinds.b]\nbackoff = [\"soon\"]\n"
      "[jobs.kinds.c]\nbackoff = {first = \"2m\", max = \"1m\"}\n[jobs.kinds.d]\nbackoff = {frist = \"2m\"}\n"
      "[jobs.kinds.e]\nthrottle = {concurrency = 0}\n");
  ASSERT_EQ(problems.size(), 5U);
  EXPECT_EQ(problems[0].key, "jobs.kinds.a.backoff");
  EXPECT_TRUE(problems[1].message.contains("durations such as"));
  EXPECT_EQ(problems[4].key, "jobs.kinds.e.throttle.concurrency");
}

}  // namespace
}  // namespace sluice::jobs
