#include "jobs/recurring.h"

#include <gtest/gtest.h>

#include "jobs/pretend_job_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

TEST(Recurring, each_firing_is_one_job_however_many_instances_add_it) {
  asio::io_context io;
  VirtualClock clock(parse_time("2026-05-01T10:00:30Z").value());
  SeededRandom random(1);
  PretendJobStore store(clock);
  messaging::Bell bell;
  Jobs jobs(store, bell, clock);
  TaskScope scope(io.get_executor());
  const RecurringJobs settings{{"report", {.schedule = "*/30 * * * *", .time_zone = "Asia/Seoul", .payload = "[1]"}}};
  Recurring first(settings, jobs, clock, random);
  Recurring second(settings, jobs, clock, random);
  first.start(scope);
  second.start(scope);
  clock.run(io, clock.now() + 2h);

  std::vector<std::string> keys;
  for (const auto& [id, kept] : store.jobs) keys.push_back(kept.job.unique_key.value());
  EXPECT_EQ(keys, (std::vector<std::string>{"report@2026-05-01T10:30:00.000Z", "report@2026-05-01T11:00:00.000Z",
                                            "report@2026-05-01T11:30:00.000Z", "report@2026-05-01T12:00:00.000Z"}));
  EXPECT_EQ(store.jobs.begin()->second.job.kind, "report");
  EXPECT_EQ(store.jobs.begin()->second.job.payload, "[1]");

  scope.cancel();
  clock.run(io, clock.now() + 1s);
}

}  // namespace
}  // namespace sluice::jobs
