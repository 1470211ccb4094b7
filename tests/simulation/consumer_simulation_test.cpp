// Consumers in virtual time with everything going wrong that may.
//
// Promised, whatever happens: a message begins only when all before it with its key have finished, whoever finished
// them; nothing unfinished is ever committed. Once the storm is over: everything published is finished and committed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/consumer_world.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

using Weather = ConsumerWorld::Weather;

void pass(ConsumerWorld& world, int steps, Weather weather) {
  for (int i = 0; i < steps && world.wrong().empty(); ++i) world.step(weather);
}

TEST(ConsumerSimulation, keys_keep_their_order_nothing_is_skipped_and_everything_is_handled_after_every_storm) {
  int letters = 0;
  int assignments = 0;
  for (uint64_t seed = 1; seed <= (in_full() ? 500U : 3U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ConsumerWorld world(seed);
    for (int storm = 0; storm < 2; ++storm) {
      pass(world, 600, Weather::storm);
      pass(world, 100, Weather::calm);
      for (int i = 0; i < 12 && !world.all_committed(); ++i) pass(world, 100, Weather::silence);
      ASSERT_EQ(world.wrong(), "");
      ASSERT_EQ(world.finished(), world.published());
      ASSERT_TRUE(world.all_committed());
    }
    world.stop();
    ASSERT_EQ(world.wrong(), "");
    letters += world.letters();
    assignments += world.assignments();
  }
  // The storms were storms.
  EXPECT_GT(letters, 50);
  EXPECT_GT(assignments, 100);
}

}  // namespace
}  // namespace sluice::test
