#include "lab/ramp.h"

#include <gtest/gtest.h>

namespace sluice::lab {
namespace {

using Seconds = std::chrono::duration<double>;

Ramp up_and_down() {
  return Ramp({{10s, 100}, {20s, 100}, {10s, 0}});
}

TEST(Ramp, counts_the_area_under_the_rate) {
  const Ramp ramp = up_and_down();
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(0)), 0);
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(5)), 125);
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(10)), 500);
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(30)), 2500);
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(40)), 3000);
  EXPECT_DOUBLE_EQ(ramp.count_at(Seconds(99)), 3000);
}

TEST(Ramp, the_time_of_a_count_is_when_the_count_is_reached) {
  const Ramp ramp = up_and_down();
  for (double count = 0; count < 3000; count += 7) {
    EXPECT_NEAR(ramp.count_at(ramp.time_of(count)), count, 1e-6) << count;
  }
}

TEST(Ramp, a_share_of_it_has_the_same_shape) {
  const Ramp half = up_and_down().times(0.5);
  EXPECT_DOUBLE_EQ(half.peak(), 50);
  EXPECT_DOUBLE_EQ(half.count_at(Seconds(40)), 1500);
  EXPECT_EQ(half.duration(), 40s);
}

}  // namespace
}  // namespace sluice::lab
