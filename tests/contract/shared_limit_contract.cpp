// Contract of every coordination::SharedLimit, tested on a real engine.
#include "tests/contract/shared_limit_suite.h"

namespace sluice::test {

TEST_P(SharedLimitContract, a_limit_that_nothing_is_known_of_is_spent_for_one_window) {
  Limit& limit = instance();
  const Drawn first = draw(limit, high, 1, 45);
  expect_spent(first);
  EXPECT_GE(draw_all(limit, high, 45).stamp, first.stamp + first.wait.count());
}

TEST_P(SharedLimitContract, its_first_window_can_begin_before_the_first_draw) {
  Limit& limit = instance();
  run(coordination::make_known(limit));
  const Drawn first = draw(limit, high, 1, 1);
  EXPECT_LT(first.wait.count(), span());
  draw_all(limit, high, 45);
  run(coordination::make_known(limit));
  EXPECT_LT(draw(limit, high, 1, 1).wait.count(), span()) << "later it changes nothing";
}

TEST_P(SharedLimitContract, no_window_gives_more_than_its_most_to_many_callers) {
  Limit& one = instance();
  Limit& two = instance();
  const auto begin = draw(one, high, 1, 1).stamp;
  const auto end = begin + 5 * span();
  contract::Draws highs;
  contract::Draws lows;
  std::vector<Task<>> callers;
  for (int i = 0; i < 3; ++i) {
    callers.push_back(contract::draw_often(one, high, 1 + 3 * i, end, highs, 45));
    callers.push_back(contract::draw_often(two, low, 1 + 3 * i, end, lows));
  }
  for (const auto& outcome : run_all(std::move(callers))) EXPECT_FALSE(outcome.error);
  EXPECT_EQ(broken_window(lows.given, 35, Duration{span()}), "");
  std::vector<Happened> all = highs.given;
  all.insert(all.end(), lows.given.begin(), lows.given.end());
  EXPECT_EQ(broken_window(all, 45, Duration{span()}), "");
  // And it gives all that it may: HIGH, which nothing keeps back, gets less than it asks for only while a window is
  // full.
  for (const coordination::Stamp stamp : highs.short_of) {
    if (stamp < begin + span()) continue;  // nothing was known of the limit
    EXPECT_EQ(total_between(all, stamp - span(), stamp), 45) << stamp - begin;
  }
  EXPECT_GE(total(all), 45);
}

TEST_P(SharedLimitContract, a_refusal_takes_nothing_from_any_window) {
  Limit& limit = instance();
  int64_t refused = 0;
  Drawn highs;
  draw_and_observe(limit, low, 35, Duration{span()}, [&] {
    refused = 0;
    for (int i = 0; i < 5; ++i) refused += draw(limit, low, 1, 35).given == 0 ? 1 : 0;
    return highs = draw(limit, high, 1, 1000);
  });
  EXPECT_EQ(refused, 5);
  EXPECT_EQ(highs.given, 10) << "what LOW can't touch";
}

TEST_P(SharedLimitContract, who_was_refused_keeps_worse_priorities_of_other_instances_back_for_a_second) {
  Limit& one = instance();
  Limit& two = instance();
  Drawn refused;
  Drawn kept_back;
  ASSERT_TRUE(eventually([&] {
    draw_and_observe(one, high, 45, Duration{span()}, [&] { return refused = draw(one, high, 1, 1); });
    draw_all(one, high, 1);  // there is room again
    kept_back = draw(two, low, 1, 1);
    return kept_back.stamp < refused.stamp + coordination::wanted_for.count();  // later: this machine stood still
  }));
  EXPECT_EQ(refused.given, 0);
  EXPECT_EQ(kept_back.given, 0);
  EXPECT_GT(kept_back.wait, 0us);
  EXPECT_LE(kept_back.wait, coordination::wanted_for);
  EXPECT_GE(draw_all(two, low, 1).stamp, refused.stamp + 999'000) << "engines count in milliseconds";
}

TEST_P(SharedLimitContract, who_could_never_be_given_what_it_asks_for_keeps_nobody_back) {
  Limit& limit = instance();
  draw_all(limit, low, 1);
  EXPECT_EQ(draw(limit, high, 46, 46).given, 0);
  EXPECT_EQ(draw(limit, low, 1, 1).given, 1);
}

TEST_P(SharedLimitContract, a_refusal_says_exactly_when_to_try_again) {
  Limit& limit = instance();
  const Drawn first = draw_all(limit, high, 45);
  const auto when = first.stamp + span();
  Drawn drawn;
  ASSERT_TRUE(eventually([&] {
    drawn = draw(limit, high, 1, 1);
    if (drawn.given == 0) EXPECT_EQ(drawn.stamp + drawn.wait.count(), when);
    return drawn.given == 1;
  }));
  EXPECT_GE(drawn.stamp, when);
}

TEST_P(SharedLimitContract, it_gives_what_there_is_between_least_and_most) {
  Limit& limit = instance();
  std::vector<int64_t> given;
  draw_and_observe(limit, high, 40, Duration{span()}, [&] {
    given = {draw(limit, high, 6, 10).given, draw(limit, high, 2, 3).given};
    const Drawn last = draw(limit, high, 1, 10);
    given.push_back(last.given);
    return last;
  });
  EXPECT_EQ(given, (std::vector<int64_t>{0, 3, 2}));
}

TEST_P(SharedLimitContract, the_longest_wait_is_told) {
  plan_.window[1].per = 600ms;
  Limit& limit = instance();
  Drawn refused;
  const Drawn lows = draw_and_observe(limit, low, 35, 620ms, [&] { return refused = draw(limit, low, 1, 1); });
  EXPECT_EQ(refused.given, 0);
  EXPECT_EQ(refused.stamp + refused.wait.count(), lows.stamp + 620'000);
}

TEST_P(SharedLimitContract, it_says_when_it_was_asked_by_the_callers_clock) {
  Limit& limit = instance();
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  const Drawn drawn = draw(limit, high, 1, 1);
  const auto after = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_GE(drawn.sent.time_since_epoch(), before);
  EXPECT_LE(drawn.sent.time_since_epoch(), after);
}

TEST_P(SharedLimitContract, what_was_lost_counts_as_spent) {
  Limit& limit = instance_with_day();
  run(limit.deposit(low, 100, 1h));
  const Drawn before = draw_all(limit, low, 5);
  EXPECT_EQ(before.credit, 95);
  lose();
  Limit& again = instance();
  expect_spent(draw(again, high, 1, 1));
  EXPECT_GE(draw_all(again, high, 45).stamp, before.stamp + span());
  EXPECT_TRUE(draw(again, low, 1, 1).lacks_credit);
}

TEST_P(SharedLimitContract, a_window_of_another_size_counts_as_spent) {
  draw_all(instance(), low, 1);
  plan_.window[1].most = 30;
  expect_spent(draw(instance(), low, 1, 1));
}

TEST_P(SharedLimitContract, limits_are_apart) {
  draw_all(instance(), high, 45);
  plan_.name += "-other";
  draw_all(instance(), high, 45);
}

TEST_P(SharedLimitContract, without_credit_nothing_is_given) {
  Limit& limit = instance_with_day();
  draw_all(limit, high, 1);
  const Drawn refused = draw(limit, low, 1, 1);
  EXPECT_EQ(refused.given, 0);
  EXPECT_TRUE(refused.lacks_credit);
  EXPECT_EQ(draw(limit, high, 44, 44).given, 44) << "and nothing was taken";
}

TEST_P(SharedLimitContract, credit_is_drawn_together_with_the_permits) {
  Limit& limit = instance_with_day();
  run(limit.deposit(low, 4, 1h));
  run(instance().deposit(low, 3, 1h));
  EXPECT_EQ(draw_all(limit, low, 5).credit, 2);
  const Drawn rest = draw(limit, low, 1, 10);
  EXPECT_EQ(rest.given, 2);
  EXPECT_EQ(rest.credit, 0);
  EXPECT_TRUE(draw(limit, low, 1, 10).lacks_credit);
}

TEST_P(SharedLimitContract, credit_of_another_day_is_worth_nothing) {
  Limit& limit = instance_with_day();
  draw_all(limit, high, 1);  // the limit is known
  // Again where this machine stood still until that day was over.
  ASSERT_TRUE(eventually([&] {
    run(limit.deposit(low, 30, 500ms));
    return draw(limit, low, 1, 1).given == 1;
  }));
  ASSERT_TRUE(eventually([&] { return draw(limit, low, 1, 1).lacks_credit; }));
  run(limit.deposit(low, 2, 1h));
  draw_all(limit, low, 2);
  EXPECT_TRUE(draw(limit, low, 1, 1).lacks_credit) << "what was left of it did not come back";
}

TEST_P(SharedLimitContract, it_shows_what_each_window_has_left) {
  Limit& limit = instance();
  std::vector<int64_t> left;
  draw_and_observe(limit, low, 30, Duration{span()}, [&] {
    left = run(limit.remaining());
    return draw(limit, high, 1, 1);
  });
  EXPECT_EQ(left, (std::vector<int64_t>{15, 5}));
}

TEST_P(SharedLimitContract, a_large_window_holds_too) {
  plan_.window = {{"global", 25'000, 300ms}};
  plan_.priority = {{.name = "HIGH", .windows = {"global"}}};
  Limit& limit = instance();
  const auto end = draw(limit, high, 1, 1).stamp + 4 * span();
  contract::Draws draws;
  std::vector<Task<>> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(contract::draw_often(limit, high, 700 + 400 * i, end, draws, 25'000));
  for (const auto& outcome : run_all(std::move(callers))) EXPECT_FALSE(outcome.error);
  EXPECT_EQ(broken_window(draws.given, 25'000, Duration{span()}), "");
  EXPECT_GE(total(draws.given), 25'000);
}

}  // namespace sluice::test
