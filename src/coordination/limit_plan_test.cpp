#include "coordination/limit_plan.h"

#include <gtest/gtest.h>

#include "runtime/config.h"

namespace sluice::coordination {
namespace {

const std::string usual = R"(
[[limit.window]]
name = "global"
most = 450
[[limit.window]]
name = "burst"
most = 54
per = "100ms"
[[limit.window]]
name = "low"
most = 350
[[limit.day]]
name = "global-day"
most = 20_000_000
reserve = 2_000_000
utc_offset = "+09:00"
[[limit.day]]
name = "low-day"
most = 18_000_000
utc_offset = "+09:00"
[[limit.priority]]
name = "HIGH"
windows = ["global", "burst"]
days = ["global-day"]
may_use_reserve = true
[[limit.priority]]
name = "LOW"
windows = ["global", "burst", "low"]
days = ["global-day", "low-day"]
)";

// `usual` with the first `from` written as `to`.
std::string with(std::string_view from, std::string_view to) {
  std::string text = usual;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Loaded {
  LimitPlan plan;
  std::string problems;
};

Loaded load(const std::string& text) {
  Loaded loaded;
  config::Loader loader;
  loader.section("limit", loaded.plan);
  for (const config::Problem& problem : loader.load({.file = "sluice.toml", .text = text})) {
    loaded.problems += problem.text() + "\n";
  }
  return loaded;
}

testing::AssertionResult refuses(const std::string& text, const std::string& why) {
  const std::string problems = load(text).problems;
  if (problems.find(why) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "problems: " << problems;
}

TEST(LimitPlan, the_numbers_of_the_model_case_are_a_plan) {
  const auto [plan, problems] = load(usual);
  EXPECT_EQ(problems, "");
  EXPECT_EQ(plan.windows_of(1), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(plan.betters_of(1), (std::vector<size_t>{0}));
  EXPECT_EQ(plan.betters_of(0), (std::vector<size_t>{}));
  EXPECT_EQ(plan.days_of(0), (std::vector<size_t>{0}));
  EXPECT_EQ(plan.find_priority("LOW"), 1U);
  EXPECT_EQ(plan.find_priority("MIDDLE"), std::nullopt);
  EXPECT_EQ(plan.day[0].utc_offset, 9h);
  EXPECT_EQ(plan.most_at_once(1), 54);
  EXPECT_NEAR(plan.per_second(0), 450 / 1.02, 0.001);
  EXPECT_NEAR(plan.per_second(1), 350 / 1.02, 0.001);
}

TEST(LimitPlan, a_name_that_is_not_there_is_refused) {
  EXPECT_TRUE(refuses(with(R"(windows = ["global", "burst"])", R"(windows = ["globe", "burst"])"),
                      "HIGH uses the window globe, which does not exist"));
  EXPECT_TRUE(refuses(with(R"(days = ["global-day"])", R"(days = ["day"])"), "HIGH uses the day day"));
}

TEST(LimitPlan, what_limits_nobody_is_refused) {
  EXPECT_TRUE(refuses(with(R"(windows = ["global", "burst", "low"])", R"(windows = ["global", "burst"])"),
                      "low is not used by any priority"));
  EXPECT_TRUE(refuses(with(R"(windows = ["global", "burst"])", "windows = []"), "HIGH has no window"));
  EXPECT_TRUE(refuses("[limit]\npermit_life = \"20ms\"", "must have at least one entry"));
}

TEST(LimitPlan, names_are_unique_and_plain) {
  EXPECT_TRUE(refuses(with("name = \"low\"", "name = \"global\""), "two are named global"));
  EXPECT_TRUE(refuses(with("name = \"low\"", "name = \"{low}\""), "may contain only letters, digits"));
}

TEST(LimitPlan, a_share_that_leaves_nothing_to_the_others_is_refused_with_the_arithmetic) {
  EXPECT_TRUE(refuses(with("most = 350", "most = 450"), "its 450 in 1s are not less than the 1 x 450 = 450"));
}

TEST(LimitPlan, a_permit_that_outlives_its_window_is_refused_with_the_arithmetic) {
  EXPECT_TRUE(refuses("[limit]\npermit_life = \"1s\"\n" + usual, "would allow 450 in 2s instead"));
}

TEST(LimitPlan, a_day_that_does_not_fit_is_refused_with_the_arithmetic) {
  EXPECT_TRUE(refuses(with("most = 18_000_000", "most = 21_000_000"), "21000000 - 20000000 = 1000000 too many"));
  EXPECT_TRUE(refuses(with("reserve = 2_000_000", "reserve = 30_000_000"), "10000000 too many"));
  EXPECT_TRUE(refuses(with("reserve = 2_000_000", "reserve = 20_000_000"), "20000000 - 20000000 = 0 are left for LOW"));
  EXPECT_TRUE(refuses(with("may_use_reserve = true", ""), "reserves 2000000 permits that no priority may use"));
}

TEST(LimitPlan, an_offset_is_a_clocks_distance_from_utc) {
  EXPECT_EQ(load(with("+09:00", "-03:30")).plan.day[0].utc_offset, -210min);
  for (const char* wrong : {"9h", "+9:00", "+15:00", "+09:60", "09:00"}) {
    EXPECT_TRUE(refuses(with("+09:00", wrong), "an offset such as")) << wrong;
  }
}

}  // namespace
}  // namespace sluice::coordination
