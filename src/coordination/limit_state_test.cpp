#include "coordination/limit_state.h"

#include <gtest/gtest.h>

#include "coordination/testing/model_plan.h"

namespace sluice::coordination {
namespace {

constexpr Stamp start = 1'800'000'000'000'000;
constexpr Stamp second = 1'000'000;

LimitPlan plan_with_day() {
  LimitPlan plan = model_plan();
  plan.day = {{.name = "day", .most = 1'000'000}};
  plan.priority[low].days = {"day"};
  return plan;
}

LimitState fresh(LimitPlan plan = model_plan()) {
  return {std::make_shared<const LimitPlan>(std::move(plan)), start - 2 * second};
}

TEST(LimitState, a_refusal_takes_nothing_from_any_window) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(low, 1, 1000, start).given, 350);
  const Drawn refused = state.decide(low, 1, 1, start + 5);
  EXPECT_EQ(refused.given, 0);
  EXPECT_EQ(refused.wait, 1020ms - 5us);
  EXPECT_EQ(state.remaining(start + 5), (std::vector<int64_t>{100, 0}));
}

TEST(LimitState, what_low_cannot_touch_is_left_for_high) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(low, 1, 1000, start).given, 350);
  EXPECT_EQ(state.decide(high, 1, 1000, start).given, 100);
}

TEST(LimitState, the_answer_is_the_longest_wait) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(low, 350, 350, start).given, 350);
  EXPECT_EQ(state.decide(high, 100, 100, start + 100).given, 100);
  EXPECT_EQ(state.decide(low, 1, 1, start + 200).wait, 1020ms - 200us) << "both rings have their oldest at the start";
  EXPECT_EQ(state.decide(low, 350, 350, start + 200).wait, 1020ms - 200us);
  EXPECT_EQ(state.decide(high, 400, 400, start + 200).wait, 1020ms - 100us);
}

TEST(LimitState, who_was_refused_keeps_worse_priorities_back_and_no_better_one) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(high, 450, 450, start).given, 450);
  EXPECT_EQ(state.decide(low, 1, 1, start + 1).wait, 1020ms - 1us);
  EXPECT_EQ(state.decide(high, 1, 1, start + second / 2).given, 0);
  const Stamp free = start + second + 20'000;
  const Drawn kept_back = state.decide(low, 1, 1, free);
  EXPECT_EQ(kept_back.given, 0);
  EXPECT_EQ(kept_back.wait, 480ms) << "wanted until a second after HIGH was refused";
  EXPECT_EQ(state.decide(high, 1, 1, free).given, 1);
  EXPECT_EQ(state.decide(low, 1, 1, start + second * 3 / 2).given, 1);
}

TEST(LimitState, priorities_without_a_common_window_do_not_keep_each_other_back) {
  LimitPlan apart = model_plan();
  apart.priority[low].windows = {"low"};
  LimitState state = fresh(apart);
  EXPECT_EQ(state.decide(high, 450, 450, start).given, 450);
  EXPECT_EQ(state.decide(high, 1, 1, start).given, 0);
  EXPECT_EQ(state.decide(low, 1, 1, start).given, 1);
}

TEST(LimitState, a_mark_from_the_future_shows_a_clock_that_went_back) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(high, 450, 450, start).given, 450);
  EXPECT_EQ(state.decide(high, 1, 1, start).given, 0);
  const Stamp back = start - 100 * second;
  state.decide(low, 1, 1, back);
  EXPECT_EQ(state.decide(low, 1, 1, back + 2 * second).given, 1);
}

TEST(LimitState, fewer_than_the_least_are_not_given) {
  LimitState state = fresh();
  EXPECT_EQ(state.decide(high, 1, 440, start).given, 440);
  EXPECT_EQ(state.decide(high, 11, 20, start).given, 0);
  EXPECT_EQ(state.decide(high, 10, 20, start).given, 10);
}

TEST(LimitState, without_credit_nothing_is_given) {
  LimitState state = fresh(plan_with_day());
  const Drawn refused = state.decide(low, 1, 5, start);
  EXPECT_EQ(refused.given, 0);
  EXPECT_TRUE(refused.lacks_credit);
  EXPECT_EQ(state.remaining(start)[0], 450);
  EXPECT_EQ(state.decide(high, 1, 5, start).given, 5) << "it draws from no day";
}

TEST(LimitState, credit_is_drawn_with_the_permits) {
  LimitState state = fresh(plan_with_day());
  state.deposit(low, 4, 1h, start);
  state.deposit(low, 3, 1h, start);
  const Drawn first = state.decide(low, 1, 5, start);
  EXPECT_EQ(first.given, 5);
  EXPECT_EQ(first.credit, 2);
  EXPECT_EQ(state.decide(low, 1, 5, start).given, 2);
  EXPECT_TRUE(state.decide(low, 1, 5, start).lacks_credit);
}

TEST(LimitState, yesterdays_credit_is_worth_nothing_today) {
  LimitState state = fresh(plan_with_day());
  state.deposit(low, 100, 1s, start);
  EXPECT_TRUE(state.decide(low, 1, 1, start + second).lacks_credit);
  state.deposit(low, 5, 24h, start + second);
  EXPECT_EQ(state.decide(low, 1, 10, start + second).given, 5);
  state.deposit(low, 100, 1s, start + second);
  state.deposit(low, 7, 24h, start + second + second / 2);
  EXPECT_EQ(state.decide(low, 1, 10, start + second + second / 2).given, 7);
}

TEST(LimitState, it_goes_on_from_what_was_saved) {
  const auto plan = std::make_shared<const LimitPlan>(plan_with_day());
  LimitState state(plan, start - 2 * second);
  state.deposit(low, 100, 1h, start);
  EXPECT_EQ(state.decide(low, 1, 60, start).given, 60);
  const Bytes bytes = state.save(7);
  LimitState same(plan, start + 10, bytes, 7);
  EXPECT_EQ(same.remaining(start + 10), (std::vector<int64_t>{390, 290}));
  EXPECT_EQ(same.decide(low, 1, 1000, start + 10).given, 40);
}

TEST(LimitState, another_run_of_the_engine_or_damage_counts_as_spent) {
  const auto plan = std::make_shared<const LimitPlan>(plan_with_day());
  LimitState state(plan, start - 2 * second);
  state.deposit(low, 100, 1h, start);
  Bytes bytes = state.save(7);
  const std::vector<int64_t> spent{0, 0};
  EXPECT_EQ(LimitState(plan, start, bytes, 8).remaining(start), spent);
  EXPECT_TRUE(LimitState(plan, start, bytes, 8).decide(low, 1, 1, start + 2 * second).lacks_credit);
  for (size_t size = 0; size + 100 < bytes.size(); size += 97) {
    LimitState cut(plan, start, std::span(bytes).first(size), 7);
    EXPECT_EQ(cut.remaining(start)[1], 0) << size;
  }
}

TEST(LimitState, a_changed_window_is_spent_and_the_others_go_on) {
  LimitState state = fresh();
  const Bytes bytes = state.save(7);
  LimitPlan changed = model_plan();
  changed.window[1].most = 300;
  std::swap(changed.window[0], changed.window[1]);
  LimitState next(std::make_shared<const LimitPlan>(changed), start, bytes, 7);
  EXPECT_EQ(next.remaining(start), (std::vector<int64_t>{0, 450}));
}

}  // namespace
}  // namespace sluice::coordination
