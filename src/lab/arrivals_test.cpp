#include "lab/arrivals.h"

#include <gtest/gtest.h>

namespace sluice::lab {
namespace {

const SteadyTime start{1h};

TEST(Arrivals, come_at_a_constant_rate_whatever_happens) {
  Arrivals arrivals({.rate = 100.0, .start = start, .duration = 1s});
  EXPECT_EQ(arrivals.due(start), start);
  arrivals.take();
  EXPECT_FALSE(arrivals.due(start + 9ms));
  EXPECT_EQ(arrivals.next(start), start + 10ms);
  EXPECT_EQ(arrivals.due(start + 500ms), start + 10ms) << "late, but meant for its own time";
  EXPECT_EQ(arrivals.backlog(start + 500ms), 50U);
}

TEST(Arrivals, end_with_the_duration_but_what_was_due_stays_due) {
  Arrivals arrivals({.rate = 10.0, .start = start, .duration = 1s});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(arrivals.due(start + 1h));
    arrivals.take();
  }
  EXPECT_TRUE(arrivals.ended(start + 1h));
}

TEST(Arrivals, of_several_threads_add_up_to_the_rate_and_interleave) {
  uint64_t total = 0;
  for (const double phase : {0.0, 1.0 / 3, 2.0 / 3}) {
    Arrivals arrivals({.rate = 1000.0 / 3, .phase = phase, .start = start, .duration = 1s});
    EXPECT_EQ(*arrivals.next(start) - start, std::chrono::duration_cast<SteadyClock::duration>(3ms * phase));
    for (; !arrivals.ended(start); ++total) arrivals.take();
  }
  EXPECT_EQ(total, 1000U);
}

TEST(Arrivals, in_a_closed_loop_are_always_due_until_the_end) {
  Arrivals arrivals({.start = start, .duration = 1s, .limit = 3});
  EXPECT_FALSE(arrivals.due(start - 1ms));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(arrivals.due(start + 5ms), start + 5ms);
    arrivals.take();
  }
  EXPECT_TRUE(arrivals.ended(start + 5ms));
  EXPECT_TRUE(Arrivals({.start = start, .duration = 1s}).ended(start + 1s));
}

}  // namespace
}  // namespace sluice::lab
