#include "jobs/failure_reports.h"

#include <gtest/gtest.h>

#include "jobs/job_upkeep.h"
#include "jobs/jobs.h"
#include "jobs/testing/pretend_job_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

class FailureReportsTest : public testing::Test {
 protected:
  struct Gathered : ErrorSink {
    void report(ErrorReport report) override { reports.push_back(std::move(report)); }
    std::vector<ErrorReport> reports;
  };
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  void SetUp() override { reports.start(scope, io.get_executor()); }
  void TearDown() override { run(scope.close()); }
  void run(Task<> task) {
    asio::co_spawn(io, std::move(task), [](const std::exception_ptr& error) { EXPECT_EQ(error, nullptr); });
    pass(0ms);
  }
  Task<> claim() {
    ClaimRequest request{.worker = "w", .kinds = {"mail"}};
    co_await store.claim(std::move(request));
  }
  static Task<> fail(Jobs& jobs, LockedJob job) {
    std::vector<Failure> failures{{.job = job, .error = "no answer"}};
    co_await jobs.fail(std::move(failures));
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }

  asio::io_context io;
  VirtualClock clock;
  SeededRandom random{1};
  PretendJobStore store{clock};
  Gathered sink;
  FailureReports reports{store, sink, clock, random};
  TaskScope scope{io.get_executor()};
};

TEST_F(FailureReportsTest, a_failure_is_a_warning_with_what_is_known_of_the_job) {
  const JobId id = store.add({.kind = "mail", .payload = "{}", .throttle_key = "a.example"});
  store.jobs.at(id).attempts = 1;
  reports.add(id, "no answer", false);
  pass(0ms);
  ASSERT_EQ(sink.reports.size(), 1U);
  const ErrorReport& report = sink.reports.front();
  EXPECT_EQ(report.severity, ErrorReport::Severity::warning);
  EXPECT_EQ(report.type, "mail failed");
  EXPECT_EQ(report.message, "no answer");
  EXPECT_EQ(report.tags, (Pairs{{"job", id.text()}, {"kind", "mail"}, {"domain", "a.example"}}));
  EXPECT_EQ(report.details, (Pairs{{"attempts", "1 of 2"}}));
}

TEST_F(FailureReportsTest, a_death_comes_with_the_history) {
  const JobId id = store.add({.kind = "mail", .payload = "{}"});
  store.jobs.at(id).attempts = 2;
  store.jobs.at(id).history = {
      {.number = 1, .started_at = Time{}, .worker = "w1", .outcome = "failed", .error = "no answer"},
      {.number = 2, .started_at = Time{}, .worker = "w2", .outcome = "dead", .error = "refused"}};
  reports.add(id, "refused", true);
  pass(0ms);
  ASSERT_EQ(sink.reports.size(), 1U);
  EXPECT_EQ(sink.reports.front().severity, ErrorReport::Severity::error);
  EXPECT_EQ(sink.reports.front().type, "mail is dead");
  EXPECT_EQ(sink.reports.front().details, (Pairs{{"attempts", "2 of 2"},
                                                 {"attempt 1", "failed at 1970-01-01T00:00:00.000Z on w1: no answer"},
                                                 {"attempt 2", "dead at 1970-01-01T00:00:00.000Z on w2: refused"}}));
}

TEST_F(FailureReportsTest, a_job_that_died_with_its_worker_is_told_of) {
  messaging::Bell bell;
  JobUpkeep upkeep(store, bell, clock, random, 1h, &reports);
  upkeep.start(scope);
  const JobId id = store.add({.kind = "mail", .payload = "{}"});
  store.dying = {id};
  pass(2s);
  ASSERT_EQ(sink.reports.size(), 1U);
  EXPECT_EQ(sink.reports.front().type, "mail is dead");
  EXPECT_EQ(sink.reports.front().message, "its worker stopped responding");
}

TEST_F(FailureReportsTest, nothing_is_forgotten_while_the_store_is_away) {
  const JobId id = store.add({.kind = "mail", .payload = "{}"});
  store.away = true;
  reports.add(id, "no answer", false);
  pass(1min);
  EXPECT_TRUE(sink.reports.empty());
  store.away = false;
  pass(1min);
  EXPECT_EQ(sink.reports.size(), 1U);
}

TEST_F(FailureReportsTest, too_many_at_once_are_dropped) {
  const JobId id = store.add({.kind = "mail", .payload = "{}"});
  for (size_t i = 0; i < FailureReports::max_waiting + 50; ++i) reports.add(id, "no answer", false);
  pass(1min);
  EXPECT_EQ(sink.reports.size(), FailureReports::max_waiting);
}

TEST_F(FailureReportsTest, failures_told_by_workers_from_outside_are_reported_if_they_were_accepted) {
  messaging::Bell bell;
  Jobs jobs(store, bell, clock, {.failures = &reports});
  const JobId id = store.add({.kind = "mail", .payload = "{}"});
  run(claim());
  run(fail(jobs, {id, 99}));
  EXPECT_TRUE(sink.reports.empty());
  run(fail(jobs, {id, 1}));
  EXPECT_EQ(sink.reports.size(), 1U);
}

}  // namespace
}  // namespace sluice::jobs
