#include "jobs/recurring.h"

#include <gtest/gtest.h>

#include "jobs/testing/pretend_job_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

class RecurringTest : public testing::Test {
 protected:
  void TearDown() override {
    scope.cancel();
    pass(1s);
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }
  std::vector<std::string> firings() const {
    std::vector<std::string> times;
    for (const auto& [id, kept] : store.jobs) times.push_back(format_time(kept.job.run_after.value()));
    return times;
  }

  asio::io_context io;
  VirtualClock clock{parse_time("2026-05-01T10:00:30Z").value()};
  SeededRandom random{1};
  PretendJobStore store{clock};
  messaging::Bell bell;
  Jobs jobs{store, bell, clock};
  TaskScope scope{io.get_executor()};
  const RecurringJobs settings{{"report", {.schedule = "*/30 * * * *", .time_zone = "Asia/Seoul", .payload = "[1]"}}};
  Recurring first{settings, jobs, clock, random};
  Recurring second{settings, jobs, clock, random};
};

TEST_F(RecurringTest, each_firing_is_one_job_however_many_instances_add_it) {
  first.start(scope);
  second.start(scope);
  pass(2h);
  EXPECT_EQ(firings(), (std::vector<std::string>{"2026-05-01T10:30:00.000Z", "2026-05-01T11:00:00.000Z",
                                                 "2026-05-01T11:30:00.000Z", "2026-05-01T12:00:00.000Z"}));
  EXPECT_EQ(store.jobs.begin()->second.job.kind, "report");
  EXPECT_EQ(store.jobs.begin()->second.job.payload, "[1]");
}

TEST_F(RecurringTest, an_instance_that_comes_late_adds_nothing_whatever_became_of_the_job) {
  first.start(scope);
  pass(35min);
  ASSERT_EQ(store.jobs.size(), 1U);
  store.jobs.begin()->second.status = JobStatus::dead;
  second.start(scope);
  pass(10min);
  EXPECT_EQ(store.jobs.size(), 1U);
}

TEST_F(RecurringTest, a_firing_that_the_store_refused_is_added_later) {
  first.start(scope);
  store.refuses = true;
  pass(35min);
  EXPECT_TRUE(store.jobs.empty());
  store.refuses = false;
  pass(1min);
  EXPECT_EQ(firings(), std::vector<std::string>{"2026-05-01T10:30:00.000Z"});
}

}  // namespace
}  // namespace sluice::jobs
