// Coalescing over days of virtual time with everything going wrong that may.
//
// Promised, whatever happens: versions only grow; a message is skipped only for a stored fetch that began after it was
// issued. Once the storm is over: an item that is asked for is refreshed all the time, with about one message a fetch.
#include <gtest/gtest.h>

#include "tests/simulation/coalescing_world.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

constexpr int steps_a_minute = 600;

// Leases of crashed fetches and messages presumed lost end within a minute; then the item is its own again.
constexpr int recovery = 2 * steps_a_minute;

void weather(CoalescingWorld& world, int steps, bool stormy) {
  for (int i = 0; i < steps && world.wrong().empty(); ++i) world.step(stormy);
}

void calm_after_a_storm(CoalescingWorld& world) {
  weather(world, recovery, false);
  const int published = world.published();
  const int stored = world.stored();
  for (int i = 0; i < steps_a_minute && world.wrong().empty(); ++i) {
    world.step(false);
    ASSERT_LT(world.now() - world.last_refreshed(), 10s);
  }
  ASSERT_EQ(world.wrong(), "");
  EXPECT_GE(world.stored() - stored, 10);
  EXPECT_LE(world.published() - published, 2 * (world.stored() - stored) + 2);
}

TEST(CoalescingSimulation, versions_grow_nothing_is_skipped_untruly_and_calm_follows_every_storm) {
  for (uint64_t seed = 1; seed <= (in_full() ? 2000U : 40U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    CoalescingWorld world(seed);
    for (int storm = 0; storm < 3; ++storm) {
      weather(world, 5 * steps_a_minute, true);
      ASSERT_EQ(world.wrong(), "");
      calm_after_a_storm(world);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

}  // namespace
}  // namespace sluice::test
