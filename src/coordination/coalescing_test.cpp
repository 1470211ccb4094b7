#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordination/coalescing_item.h"
#include "coordination/counted_coalescing.h"
#include "runtime/config.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"

namespace sluice::coordination {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct CoalescingPlanTest : testing::Test {
  std::vector<std::string> load(const std::string& text) {
    plan = {};
    config::Loader loader;
    loader.section("refresh", plan);
    std::vector<std::string> texts;
    for (const auto& problem : loader.load({.file = "s.toml", .text = text})) texts.push_back(problem.text());
    return texts;
  }

  CoalescingPlan plan;
};

TEST_F(CoalescingPlanTest, lanes_are_configuration) {
  EXPECT_THAT(load("[refresh]\n"
                   "[[refresh.lane]]\nname = 'HIGH'\n"
                   "[[refresh.lane]]\nname = 'LOW'\nlease = '60s'"),
              IsEmpty());
  ASSERT_EQ(plan.lanes.size(), 2U);
  EXPECT_EQ(plan.lanes[0].lease, 30s);
  EXPECT_EQ(plan.lanes[1].lease, 60s);
  EXPECT_EQ(plan.keep, 45min);
}

TEST_F(CoalescingPlanTest, a_plan_that_cannot_work_is_refused) {
  EXPECT_THAT(load("[refresh]"), ElementsAre(HasSubstr("at least one")));
  EXPECT_THAT(load("[[refresh.lane]]\nname = 'A'\n[[refresh.lane]]\nname = 'A'"), ElementsAre(HasSubstr("named A")));
  EXPECT_THAT(load("[refresh]\nkeep = '20s'\n[[refresh.lane]]\nname = 'A'"), ElementsAre(HasSubstr("30s")));
}

TEST_F(CoalescingPlanTest, a_message_is_given_its_lease_or_twice_its_lanes_lag) {
  plan.lanes = {{"HIGH", 30s}, {"LOW", 60s}};
  EXPECT_EQ(plan.patience(0, {}), 30s);
  EXPECT_EQ(plan.patience(1, {1h}), 60s);
  EXPECT_EQ(plan.patience(1, {1s, 31s}), 62s);
}

TEST(Versions, a_run_goes_at_half_speed_until_its_clock_has_caught_up) {
  const RunFloor run{.floor = 10'060, .began = 9'940};  // asked for at 10,000, with clocks 60 apart at most
  EXPECT_EQ(next_version(0, 9'940, run), 10'060);
  EXPECT_EQ(next_version(0, 10'000, run), 10'090);
  EXPECT_EQ(next_version(0, 10'180, run), 10'180);
  EXPECT_EQ(next_version(0, 10'500, run), 10'500);
  EXPECT_EQ(next_version(20'000, 10'500, run), 20'001);
  Version last = 0;
  for (Version now = 9'940; now < 10'500; now += 2) {
    EXPECT_GT(next_version(0, now, run), last) << now;
    last = next_version(0, now, run);
  }
}

struct ClockSetBack : testing::Test {
  static constexpr Time now{std::chrono::hours(1'000)};
  const CoalescingPlan plan{.lanes = {{"only", 30s}}};
  CoalescingItem item;
};

TEST_F(ClockSetBack, a_message_from_the_future_is_presumed_lost) {
  const RefreshAnswer answer = item.request({"a"}, plan, 1000, now);
  EXPECT_EQ(item.request({"a"}, plan, 1000, now - 1h).outcome, RefreshOutcome::repeated);
  EXPECT_EQ(item.request({"a"}, plan, 1000, now - 1h).message.version, answer.message.version);
}

TEST_F(ClockSetBack, a_fetch_does_not_hold_the_item_for_longer_than_any_lease) {
  EXPECT_EQ(item.begin({"a", 1000, 0, 0, "me"}, plan, now).outcome, FetchOutcome::run);
  EXPECT_EQ(item.look({"a", 1000, 0, 0, "other"}, plan, now - 1h).outcome, FetchOutcome::run);
}

// Gives the answers that a test has set.
struct ScriptedCoalescing : Coalescing {
  Task<RefreshAnswer> request(RefreshRequest) override { co_return refresh; }
  Task<bool> unpublish(std::string, RefreshAnswer) override { co_return true; }
  Task<FetchAnswer> look(FetchRequest) override { co_return fetch; }
  Task<FetchAnswer> begin(FetchRequest) override { co_return fetch; }
  Task<> finish(std::string, std::string, Version) override { co_return; }
  Task<> abandon(std::string, std::string, std::optional<Version>) override { co_return; }

  RefreshAnswer refresh;
  FetchAnswer fetch;
};

Task<> ask_for_everything(ScriptedCoalescing& scripted, Coalescing& counted) {
  for (const auto outcome : {RefreshOutcome::published, RefreshOutcome::upgraded, RefreshOutcome::already,
                             RefreshOutcome::already, RefreshOutcome::repeated}) {
    scripted.refresh.outcome = outcome;
    co_await counted.request({});
  }
  for (const auto outcome : {FetchOutcome::run, FetchOutcome::obsolete, FetchOutcome::busy}) {
    scripted.fetch.outcome = outcome;
    co_await counted.look({});
    co_await counted.begin({});
  }
}

TEST(CountedCoalescing, answers_are_counted) {
  asio::io_context context;
  TaskScope scope(context.get_executor());
  ScriptedCoalescing scripted;
  CountedCoalescing counted(scripted);
  scope.spawn("ask", ask_for_everything(scripted, counted));
  context.run();
  const std::string exposed = metrics::expose();
  EXPECT_THAT(exposed, HasSubstr("dedup_coalesce_hit_total 2\n"));
  EXPECT_THAT(exposed, HasSubstr("dedup_upgrade_total 1\n"));
  EXPECT_THAT(exposed, HasSubstr("dedup_repeat_total 1\n"));
  EXPECT_THAT(exposed, HasSubstr("dedup_lock_conflict_total 2\n"));
  EXPECT_THAT(exposed, HasSubstr("obsolete_event_skipped_total 2\n"));
}

}  // namespace
}  // namespace sluice::coordination
