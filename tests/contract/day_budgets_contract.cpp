// Contract of every coordination::DayBudgets, tested on a real engine.
#include "tests/contract/day_budgets_suite.h"

namespace sluice::test {

TEST_P(DayBudgetsContract, what_passed_of_the_day_before_it_was_known_counts_as_spent) {
  const Taken taken = take(low, 100, 1000);
  ASSERT_FALSE(taken);
  EXPECT_GT(taken.error(), 5s);
  EXPECT_LT(taken.error(), 11s) << "a hundred at ten a second";
  EXPECT_GT(spent("all"), 100'000);
}

TEST_P(DayBudgetsContract, the_reserve_is_for_those_who_may_have_it) {
  EXPECT_FALSE(take(low, 100, 1000));
  const Taken taken = take(high, 1, 600);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->permits, 600);
  EXPECT_GT(taken->lasts, 1h);
  EXPECT_LT(taken->lasts, 24h);
  EXPECT_NEAR(static_cast<double>(take(high, 1, 600).value().permits), 400, 100);
}

TEST_P(DayBudgetsContract, a_chunk_comes_from_all_days_or_from_none) {
  EXPECT_FALSE(take(low, 100, 1000));
  const int64_t all = spent("all");
  const int64_t lows = spent("low");
  give_back("all", 50'000);
  EXPECT_FALSE(take(low, 100, 1000)) << "its own day has nothing";
  EXPECT_EQ(spent("all"), all - 50'000);
  EXPECT_EQ(spent("low"), lows);
  give_back(5000);
  EXPECT_EQ(take(low, 100, 1000).value().permits, 1000);
  EXPECT_EQ(spent("all"), all - 54'000);
  EXPECT_EQ(spent("low"), lows - 4000);
}

TEST_P(DayBudgetsContract, many_takers_never_get_more_than_there_is) {
  EXPECT_FALSE(take(low, 100, 1000));
  give_back(10'000);
  DayBudgets& one = budgets();
  DayBudgets& two = budgets();
  std::vector<Task<Taken>> takers;
  for (int i = 0; i < 30; ++i) takers.push_back((i % 2 == 0 ? one : two).take(low, 500, 500));
  int64_t given = 0;
  for (auto& outcome : run_all(std::move(takers))) {
    ASSERT_FALSE(outcome.error);
    if (*outcome.value) given += (**outcome.value).permits;
  }
  EXPECT_EQ(given, 10'000);
}

TEST_P(DayBudgetsContract, the_end_of_a_budget_is_given_although_it_is_less_than_asked_for) {
  EXPECT_FALSE(take(low, 100, 1000));
  set_spent("all", 999'970);
  set_spent("low", 0);
  plan_.day[0].reserve = 1'000'000;
  EXPECT_EQ(take(high, 100, 1000).value().permits, 30);
  const Taken over = take(high, 100, 1000);
  ASSERT_FALSE(over);
  EXPECT_GT(over.error(), 1h) << "the next day";
}

TEST_P(DayBudgetsContract, a_new_day_begins_with_nothing_spent) {
  EXPECT_FALSE(take(low, 100, 1000));
  for (const auto& day : plan_.day) {
    DaySpent yesterday = run(port().spent(plan_.name, day.name));
    --yesterday.day;
    run(port().set_spent(plan_.name, day.name, yesterday));
  }
  EXPECT_EQ(take(low, 100, 1000).value().permits, 1000);
  EXPECT_EQ(spent("all"), 1000);
}

TEST_P(DayBudgetsContract, it_shows_what_is_left_of_each_day) {
  EXPECT_FALSE(take(low, 100, 1000));
  const std::vector<int64_t> left = run(budgets().left());
  EXPECT_EQ(left, (std::vector<int64_t>{1'000'000 - spent("all"), 900'000 - spent("low")}));
}

TEST_P(DayBudgetsContract, limits_are_apart) {
  EXPECT_FALSE(take(low, 100, 1000));
  const std::string first = plan_.name;
  const int64_t before = spent("all");
  plan_.name = unique("limit");
  EXPECT_TRUE(take(high, 1, 500));
  plan_.name = first;
  EXPECT_EQ(spent("all"), before);
}

}  // namespace sluice::test
