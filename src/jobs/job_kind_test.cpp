#include "jobs/job_kind.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

TEST(RetryDelays, the_last_fixed_one_repeats) {
  SeededRandom random(1);
  const RetryDelays delays{.fixed = {1s, 5s}};
  EXPECT_EQ(delays.after(1, random), 1s);
  EXPECT_EQ(delays.after(2, random), 5s);
  EXPECT_EQ(delays.after(9, random), 5s);
}

TEST(RetryDelays, growing_ones_are_jittered_below_their_bound) {
  SeededRandom random(1);
  const RetryDelays delays{.growing = Backoff{.first = 1s, .factor = 2, .max = 5s}};
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(delays.after(1, random), 1s);
    EXPECT_LE(delays.after(3, random), 4s);
    EXPECT_LE(delays.after(30, random), 5s);
  }
}

TEST(Throttle, starts_are_as_far_apart_as_their_rate_demands) {
  EXPECT_EQ((Throttle{.per_second = 4}).gap(), 250ms);
  EXPECT_EQ((Throttle{.per_second = 3}).gap(), 333'334us);
  EXPECT_EQ((Throttle{.per_second = 0}).gap(), 0s);
}

TEST(JobKinds, a_name_without_settings_has_the_defaults) {
  const JobKinds kinds({{"enrich_link", JobKind{.max_attempts = 7}}});
  EXPECT_EQ(kinds.of("enrich_link").max_attempts, 7);
  EXPECT_EQ(kinds.of("anything").max_attempts, 2);
}

}  // namespace
}  // namespace sluice::jobs
