#include "jobs/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/error_text.h"
#include "jobs/job_metrics.h"
#include "jobs/testing/captured_log.h"
#include "jobs/testing/pretend_job_store.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;

class JobsTest : public testing::Test {
 protected:
  void TearDown() override {
    scope.cancel();
    pass(1s);
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }
  JobId add(std::string payload = "{}") { return store.add({.kind = "mail", .payload = std::move(payload)}); }

  // A claim over HTTP that waits for up to 30 s.
  void ask(std::function<bool()> gone = {}, size_t limit = 10) {
    answered.reset();
    scope.spawn("claim", claim({.worker = "outside", .kinds = {"mail"}, .limit = limit}, std::move(gone)));
  }
  Task<> claim(ClaimRequest request, std::function<bool()> gone) {
    got = co_await jobs.claim(std::move(request), 30s, std::move(gone));
    answered = clock.now();
  }
  template <class Value>
  Value value_of(Task<Value> task) {
    std::optional<Value> value;
    scope.spawn("ask", keep(std::move(task), value));
    pass(1s);
    return std::move(value.value());
  }
  template <class Value>
  static Task<> keep(Task<Value> task, std::optional<Value>& into) {
    into = co_await std::move(task);
  }
  // How often it rang since the last call.
  bool rang() {
    bool heard = false;
    TaskScope listening(io.get_executor());
    listening.spawn("listen", listen(heard));
    pass(1ms);
    listening.cancel();
    pass(1ms);
    return heard;
  }
  Task<> listen(bool& heard) {
    const Instant when = clock.now() + 1s;
    co_await ear.wait_until(clock, when);
    heard = clock.now() < when;
  }

  asio::io_context io;
  VirtualClock clock;
  PretendJobStore store{clock};
  messaging::Bell bell;
  messaging::Bell::Listener ear = bell.listen(io.get_executor());
  Jobs jobs{store, bell, clock};
  TaskScope scope{io.get_executor()};
  std::optional<Instant> answered;
  std::vector<ClaimedJob> got;
};

TEST_F(JobsTest, a_claim_from_outside_waits_for_the_first_job) {
  ask();
  pass(5s);
  EXPECT_FALSE(answered);
  const Instant added = clock.now();
  add();
  bell.ring();
  pass(100ms);
  ASSERT_TRUE(answered);
  EXPECT_LE(*answered - added, 20ms);
  EXPECT_EQ(got.size(), 1U);

  ask();
  pass(29s);
  EXPECT_FALSE(answered);
  pass(2s);
  EXPECT_TRUE(answered);
  EXPECT_TRUE(got.empty());

  ask();
  pass(1s);
  jobs.end_waits();
  pass(100ms);
  EXPECT_TRUE(answered);
}

TEST_F(JobsTest, who_has_gone_while_it_waited_is_given_nothing) {
  bool gone = false;
  ask([&gone] { return gone; });
  pass(5s);
  gone = true;
  const JobId id = add();
  bell.ring();
  pass(2s);
  EXPECT_TRUE(answered);
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(store.jobs.at(id).status, JobStatus::queued);
  EXPECT_EQ(store.jobs.at(id).token, 0);
}

TEST_F(JobsTest, who_goes_during_the_claim_costs_the_jobs_no_try) {
  const JobId id = add();
  store.takes = 100ms;
  bool gone = false;
  ask([&gone] { return gone; });
  pass(50ms);
  gone = true;
  pass(1s);
  EXPECT_TRUE(answered);
  EXPECT_TRUE(got.empty());
  EXPECT_EQ(store.jobs.at(id).status, JobStatus::failed);
  EXPECT_EQ(store.jobs.at(id).attempts, 0);
}

TEST_F(JobsTest, large_jobs_are_claimed_a_few_at_a_time_and_small_ones_as_many_as_wanted) {
  for (int i = 0; i < 100; ++i) add(std::string(size_t{1} << 20, 'x'));
  ask({}, 1'000);
  pass(1s);
  EXPECT_EQ(got.size(), 16U);
  EXPECT_EQ(store.count(JobStatus::running), 16U);

  store.jobs.clear();
  for (int i = 0; i < 500; ++i) add();
  ask({}, 400);
  pass(1s);
  EXPECT_EQ(got.size(), 400U);
}

TEST_F(JobsTest, what_was_claimed_before_the_store_went_away_is_given) {
  for (int i = 0; i < 100; ++i) add();
  store.away_after = 1;
  ask({}, 100);
  pass(1s);
  EXPECT_TRUE(answered);
  EXPECT_EQ(got.size(), 16U);
  store.away = false;
}

TEST_F(JobsTest, a_long_reason_is_cut_and_not_refused) {
  const JobId id = add();
  ask();
  pass(1s);
  std::vector<Failure> failures{{.job = locks_of(got).at(0), .error = std::string(50'000, 'x')}};
  const std::vector<FailVerdict> verdicts = value_of(jobs.fail(std::move(failures)));
  EXPECT_EQ(verdicts.at(0).verdict, Verdict::accepted);
  EXPECT_EQ(store.jobs.at(id).error.size(), longest_error);
}

TEST_F(JobsTest, what_outside_workers_did_is_logged_and_measured_by_whichever_instance_they_tell) {
  CapturedLog log;
  keep_kind("measured");
  for (int i = 0; i < 4; ++i) store.add({.kind = "measured", .payload = "{}", .throttle_key = "a.example"});
  ask();
  pass(200ms);
  ASSERT_EQ(got.size(), 4U);
  const std::vector<LockedJob> locks = locks_of(got);
  std::vector<OutsideTry> tries;
  for (const ClaimedJob& claimed : got) tries.push_back(parse_outside_try(to_text(jobs.try_of(claimed))).value());
  pass(3s);
  Jobs other_instance{store, bell, clock};
  value_of(other_instance.complete({{locks[0]}, {locks[1]}, {{locks[1].id, 77}}}, {tries[0], tries[1], {.token = 77}}));
  EXPECT_THAT(log.text(), HasSubstr(R"("batch_claimed_count":3,"job_duration_ms":3)"));
  EXPECT_THAT(log.text(), HasSubstr(R"("success_count":2,"fail_count":0,"released_count":0,"lost_count":1)"));
  value_of(other_instance.fail({{.job = locks[2], .error = "x"}, {.job = locks[3], .error = "x", .permanent = true}},
                               {tries[2], tries[3]}));
  EXPECT_THAT(log.text(), HasSubstr(R"("success_count":0,"fail_count":2)"));
  EXPECT_THAT(log.text(), HasSubstr(R"("failing_domains":"a.example 2")"));
  const std::string measured = metrics::expose();
  EXPECT_THAT(measured, HasSubstr(R"(job_duration_seconds_count{kind="measured",outcome="succeeded"} 2)"));
  EXPECT_THAT(measured, HasSubstr(R"(job_duration_seconds_count{kind="measured",outcome="failed"} 1)"));
  EXPECT_THAT(measured, HasSubstr(R"(job_duration_seconds_count{kind="measured",outcome="dead"} 1)"));
}

TEST_F(JobsTest, what_a_refused_token_says_is_not_counted) {
  const JobId unknown{};
  const OutsideTry forged{.token = 1, .kind = "forged", .claimed_at = Time{0s}};
  value_of(jobs.complete({{{unknown, 1}}}, {forged}));
  value_of(jobs.fail({{.job = {unknown, 1}, .error = "x"}}, {forged}));
  EXPECT_THAT(metrics::expose(), Not(HasSubstr("forged")));
}

TEST_F(JobsTest, a_try_that_took_years_or_began_in_the_future_is_accepted_and_not_measured) {
  CapturedLog log;
  add();
  add();
  ask();
  pass(1s);
  const std::vector<LockedJob> locks = locks_of(got);
  const std::vector<OutsideTry> tries{
      {.token = locks[0].token, .kind = "timeless", .claimed_at = clock.wall() - std::chrono::days(31)},
      {.token = locks[1].token, .kind = "timeless", .claimed_at = clock.wall() + 1h}};
  value_of(jobs.complete({{locks[0]}, {locks[1]}}, tries));
  EXPECT_EQ(store.count(JobStatus::succeeded), 2U);
  EXPECT_THAT(log.text(), HasSubstr(R"("job_duration_max_ms":0,"success_count":2)"));
  EXPECT_THAT(metrics::expose(), Not(HasSubstr("timeless")));
}

TEST_F(JobsTest, a_canceled_job_makes_room_at_once) {
  const JobId id = add();
  EXPECT_FALSE(rang());
  EXPECT_EQ(value_of(jobs.cancel(id)), true);
  EXPECT_EQ(store.jobs.at(id).status, JobStatus::canceled);
  EXPECT_TRUE(rang());
}

}  // namespace
}  // namespace sluice::jobs
