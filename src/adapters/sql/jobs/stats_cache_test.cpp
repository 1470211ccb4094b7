#include "adapters/sql/jobs/stats_cache.h"

#include <gtest/gtest.h>

#include "runtime/errors.h"

namespace sluice::sql {
namespace {

constexpr Instant start{};
const jobs::JobStats some{};

TEST(StatsCache, a_crowd_that_comes_while_the_first_one_counts_waits_for_that_count) {
  StatsCache cache;
  const StatsCache::Turn first = cache.begin(start);
  EXPECT_FALSE(first.stats || first.counting);
  const StatsCache::Turn second = cache.begin(start + 1s);
  const StatsCache::Turn third = cache.begin(start + 2s);
  ASSERT_TRUE(second.counting);
  EXPECT_EQ(second.counting, third.counting);
  EXPECT_FALSE(second.counting->over());
  cache.ended(some, start, start + 3s);
  EXPECT_TRUE(second.counting->over());
  EXPECT_TRUE(cache.begin(start + 3s).stats);
}

TEST(StatsCache, counting_takes_a_twentieth_of_the_time) {
  StatsCache cache;
  cache.begin(start);
  cache.ended(some, start, start + 1s);
  EXPECT_TRUE(cache.begin(start + 20s).stats);
  EXPECT_FALSE(cache.begin(start + 21s).stats) << "the caller counts";
  EXPECT_TRUE(cache.begin(start + 22s).stats) << "others get the last ones meanwhile";
}

TEST(StatsCache, a_count_that_failed_is_not_repeated_by_each_caller) {
  StatsCache cache;
  cache.begin(start);
  const StatsCache::Turn other = cache.begin(start);
  cache.failed(start, start + 10s);
  EXPECT_TRUE(other.counting->over());
  try {
    cache.begin(start + 11s);
    ADD_FAILURE() << "not refused";
  } catch (const Overloaded& refused) {
    EXPECT_EQ(refused.retry_after(), 199s);
  }
  EXPECT_FALSE(cache.begin(start + 210s).counting) << "the caller counts";
  cache.ended(some, start + 210s, start + 211s);
  EXPECT_FALSE(cache.begin(start + 231s).stats);
  cache.failed(start + 231s, start + 241s);
  EXPECT_TRUE(cache.begin(start + 241s).stats) << "old ones are better than none";
}

}  // namespace
}  // namespace sluice::sql
