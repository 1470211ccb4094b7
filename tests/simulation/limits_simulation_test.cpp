// Never more than N in any window: random plans, schedules and faults in simulated time.
#include <gtest/gtest.h>

#include "tests/simulation/limited_world.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

using coordination::LimitPlan;

// A plan of one to three windows and priorities that draw from more and more of them.
LimitPlan random_plan(uint64_t seed) {
  SeededRandom random(seed);
  LimitPlan plan{.name = "random"};
  const size_t windows = 1 + random.below(3);
  for (size_t i = 0; i < windows; ++i) {
    const Duration per{20'000 + static_cast<int64_t>(random.below(1'000'000))};
    plan.window.push_back({fmt::format("window-{}", i), static_cast<int64_t>(1 + random.below(60)), per});
    std::vector<std::string> names;
    for (const auto& window : plan.window) names.push_back(window.name);
    plan.priority.push_back({.name = fmt::format("priority-{}", i), .windows = names});
  }
  plan.permit_life = Duration{1000 + static_cast<int64_t>(random.below(18'000))};
  return plan;
}

void expect_promise(const LimitedWorld& world, const LimitPlan& plan, uint64_t seed) {
  for (size_t i = 0; i < plan.window.size(); ++i) {
    const auto& window = plan.window[i];
    EXPECT_EQ(broken_window(world.given()[i], window.most, plan.span(window)), "") << "given, seed " << seed;
    EXPECT_EQ(broken_window(world.on_the_wire()[i], window.most, window.per), "") << "on the wire, seed " << seed;
  }
}

uint64_t seeds() {
  return in_full() ? 3000 : 150;
}

TEST(Limits, hold_in_every_window_over_loss_restart_failover_and_clocks_going_back) {
  int64_t used = 0;
  int faults = 0;
  for (uint64_t seed = 1; seed <= seeds() && !testing::Test::HasFailure(); ++seed) {
    const LimitPlan plan = random_plan(seed);
    LimitedWorld world({.plan = plan, .seed = seed});
    world.run();
    expect_promise(world, plan, seed);
    used += world.used();
    faults += world.faults();
  }
  EXPECT_GT(used, static_cast<int64_t>(seeds()) * 50) << "permits are given all the same";
  EXPECT_GT(faults, static_cast<int>(seeds()) * 5);
}

TEST(Limits, of_the_model_case_hold_and_are_used_up) {
  const LimitPlan plan{.name = "upstream",
                       .window = {{"global", 450, 1s}, {"burst", 54, 100ms}, {"low", 350, 1s}},
                       .priority = {{.name = "HIGH", .windows = {"global", "burst"}},
                                    {.name = "LOW", .windows = {"global", "burst", "low"}}}};
  for (uint64_t seed = 1; seed <= seeds() / 30; ++seed) {
    LimitedWorld world({.plan = plan, .seed = seed, .faults = false, .slowest = 15ms, .own_priority = true});
    world.run();
    expect_promise(world, plan, seed);
    EXPECT_GT(total(world.given()[0]), 8 * 441) << "of ten seconds, the first of which counts as spent";
  }
}

TEST(Limits, beyond_ten_thousand_hold_as_well) {
  const LimitPlan plan{
      .name = "large", .window = {{"all", 23'457, 1s}}, .priority = {{.name = "ALL", .windows = {"all"}}}};
  for (uint64_t seed = 1; seed <= seeds() / 50; ++seed) {
    LimitedWorld world({.plan = plan, .seed = seed, .microseconds = 5'000'000});
    world.run();
    expect_promise(world, plan, seed);
  }
}

// The reason for the checker: this limit looks right on average.
TEST(Limits, a_plain_bucket_would_break_them) {
  std::vector<Happened> given;
  double tokens = 450;
  for (int64_t now = 0; now < 3'000'000; now += 500) {
    tokens = std::min(450.0, tokens + 450 * 0.0005);
    if (tokens < 1) continue;
    tokens -= 1;
    given.push_back({now, 1});
  }
  EXPECT_NE(broken_window(given, 450, 1s), "");
  EXPECT_EQ(broken_window(given, 900, 1s), "");
}

}  // namespace
}  // namespace sluice::test
