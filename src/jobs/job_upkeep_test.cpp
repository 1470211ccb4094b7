#include "jobs/job_upkeep.h"

#include <gtest/gtest.h>

#include "jobs/testing/pretend_job_store.h"
#include "runtime/virtual_clock.h"

namespace sluice::jobs {
namespace {

class JobUpkeepTest : public testing::Test {
 protected:
  void SetUp() override { upkeep.start(scope); }
  void TearDown() override {
    scope.cancel();
    pass(1s);
  }
  void pass(Duration duration) { clock.run(io, clock.now() + duration); }

  asio::io_context io;
  VirtualClock clock;
  SeededRandom random{1};
  PretendJobStore store{clock};
  messaging::Bell bell;
  TaskScope scope{io.get_executor()};
  JobUpkeep upkeep{store, bell, clock, random, 7 * 24h};
};

TEST_F(JobUpkeepTest, it_tends_every_second) {
  pass(10500ms);
  EXPECT_EQ(store.tended, 11);
}

TEST_F(JobUpkeepTest, what_becomes_due_is_awaited_by_the_clock_of_the_engine) {
  for (const Duration ahead : {Duration(1h), Duration(-1h)}) {
    store.engine_ahead = ahead;
    pass(1s);  // it has looked again
    const int tended = store.tended;
    store.due = clock.wall() + ahead + 1500ms;
    pass(1400ms);
    EXPECT_TRUE(store.due);
    EXPECT_LE(store.tended, tended + 2) << "it does not look all the time";
    pass(110ms);
    EXPECT_FALSE(store.due) << "nor a second too late";
  }
}

TEST_F(JobUpkeepTest, it_purges_until_nothing_is_left) {
  store.old = 2'500;
  store.old_requests = 5'500;
  store.idle_keys = 44'000;
  pass(61s);
  EXPECT_EQ(store.old, 0U);
  EXPECT_EQ(store.old_requests, 0U);
  EXPECT_EQ(store.idle_keys, 0U);
  EXPECT_EQ(store.purged_age, 7 * 24h);
}

TEST_F(JobUpkeepTest, it_goes_on_when_the_store_takes_its_statements_again) {
  store.refuses = true;
  pass(10min);
  EXPECT_EQ(store.tended, 0);
  store.refuses = false;
  store.old = 10;
  pass(2min);
  EXPECT_GT(store.tended, 60);
  EXPECT_EQ(store.old, 0U);
}

}  // namespace
}  // namespace sluice::jobs
