#include "coordination/day_pace.h"

#include <gtest/gtest.h>

namespace sluice::coordination {
namespace {

constexpr bool with_reserve = true;
constexpr bool without_reserve = false;
const LimitDay day{.name = "day", .most = 20'000'000, .reserve = 2'000'000, .utc_offset = 9h};
// Midnight where the day is counted.
const Time midnight = parse_time("2026-05-01T00:00:00+09:00").value();

DayPace at(Duration passed, int64_t spent) {
  const int64_t number = DayPace(day, std::nullopt, midnight).spent().day;
  return {day, DaySpent{number, spent}, midnight + passed};
}

TEST(DayPace, it_grows_evenly_and_the_reserve_is_there_at_once) {
  EXPECT_EQ(at(0s, 0).room(without_reserve), 0);
  EXPECT_EQ(at(0s, 0).room(with_reserve), 2'000'000);
  EXPECT_EQ(at(12h, 0).room(without_reserve), 9'000'000);
  EXPECT_EQ(at(12h, 9'000'000).room(with_reserve), 2'000'000);
  EXPECT_EQ(at(24h - 1us, 0).left(without_reserve), 18'000'000);
  EXPECT_EQ(at(24h - 1us, 0).left(with_reserve), 20'000'000);
}

TEST(DayPace, the_wait_is_until_the_share_has_grown) {
  const DayPace pace = at(12h, 9'000'000);
  EXPECT_EQ(pace.room(without_reserve), 0);
  const Duration wait = pace.wait_for(50, without_reserve);
  EXPECT_EQ(wait, 240ms);
  EXPECT_EQ(at(12h + wait, 9'000'000).room(without_reserve), 50);
  EXPECT_EQ(at(12h + wait - 1us, 9'000'000).room(without_reserve), 49);
}

TEST(DayPace, a_spent_day_waits_for_the_next) {
  EXPECT_EQ(at(18h, 18'000'000).wait_for(1, without_reserve), 6h);
  EXPECT_EQ(at(18h, 20'000'000).wait_for(1, with_reserve), 6h);
  EXPECT_EQ(at(18h, 20'000'000).rest(), 6h);
}

TEST(DayPace, a_new_day_begins_with_nothing_spent) {
  const DayPace next = at(24h, 20'000'000);
  EXPECT_EQ(next.spent().permits, 0);
  EXPECT_EQ(next.room(with_reserve), 2'000'000);
}

TEST(DayPace, a_clock_that_went_back_over_midnight_gives_nothing_a_second_time) {
  DayPace today = at(24h + 1h, 0);
  today.take(500'000);
  const DayPace back(day, today.spent(), midnight + 23h);
  EXPECT_EQ(back.spent().day, today.spent().day);
  EXPECT_EQ(back.spent().permits, 500'000);
  EXPECT_EQ(back.room(without_reserve), 0);
  EXPECT_EQ(back.room(with_reserve), 1'500'000);
}

TEST(DayPace, what_passed_before_anything_was_known_counts_as_spent) {
  const DayPace pace(day, std::nullopt, midnight + 12h);
  EXPECT_EQ(pace.spent().permits, 9'000'000);
  EXPECT_EQ(pace.room(without_reserve), 0);
  EXPECT_EQ(pace.left(without_reserve), 9'000'000);
}

TEST(DayPace, the_day_is_that_of_whoever_counts) {
  const DayPace before(day, std::nullopt, midnight - 1us);
  EXPECT_EQ(DayPace(day, std::nullopt, midnight).spent().day, before.spent().day + 1);
  EXPECT_EQ(before.rest(), 1us);
}

TEST(DayPace, large_budgets_do_not_overflow) {
  const LimitDay large{.name = "large", .most = 1'000'000'000'000};
  EXPECT_EQ(DayPace(large, DaySpent{}, Time{} + 18h).room(without_reserve), 750'000'000'000);
}

}  // namespace
}  // namespace sluice::coordination
