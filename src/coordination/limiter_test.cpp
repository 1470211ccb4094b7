#include "coordination/limiter.h"

#include <gtest/gtest.h>

#include "coordination/testing/model_plan.h"
#include "coordination/testing/pretend_days.h"
#include "coordination/testing/pretend_limit.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

LimitPlan plan_with_day() {
  LimitPlan plan = model_plan();
  plan.day = {{.name = "day", .most = 86'400 * 40, .utc_offset = 12h}};
  plan.priority[low].days = {"day"};
  return plan;
}

struct Got {
  std::vector<Instant> permits;
  std::vector<Duration> refused;
  int failed = 0;
};

Task<> ask(Limiter& limiter, Clock& clock, size_t priority, Duration patience, Got& got) {
  try {
    const Deadline deadline = Deadline::after(clock, patience);
    const Result<Permit, Duration> permit = co_await limiter.acquire(priority, deadline);
    if (permit) {
      EXPECT_TRUE(permit->good(clock));
      got.permits.push_back(clock.now());
    } else {
      got.refused.push_back(permit.error());
    }
  } catch (const EngineUnavailable&) {
    ++got.failed;
  }
}

Task<> ask_at_once(Limiter& limiter, Clock& clock, size_t priority, Got& got) {
  const Result<Permit, Duration> permit = co_await limiter.try_acquire(priority);
  if (permit) {
    got.permits.push_back(clock.now());
  } else {
    got.refused.push_back(permit.error());
  }
}

class LimiterTest : public testing::Test {
 protected:
  explicit LimiterTest(LimitPlan plan = model_plan(), DayBudgets* days = nullptr)
      : limit(std::move(plan), clock), limiter({limit, days, clock, random}, context.get_executor(), 5000) {
    limiter.start(scope);
    context.poll();
    limit.draws = 0;
  }
  ~LimiterTest() override {
    scope.cancel();
    context.restart();
    context.poll();
  }
  void run_for(Duration time) {
    context.restart();
    clock.run(context, clock.now() + time);
  }
  void ask_often(int count, size_t priority, Duration patience, Got& got) {
    for (int i = 0; i < count; ++i) scope.spawn("caller", ask(limiter, clock, priority, patience, got));
  }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  TaskScope scope{context.get_executor()};
  PretendLimit limit;
  Limiter limiter;
};

TEST_F(LimiterTest, one_draw_is_for_everybody_who_waits) {
  Got got;
  ask_often(400, high, 1s, got);
  run_for(1ms);
  EXPECT_EQ(got.permits.size(), 400U);
  EXPECT_EQ(limit.draws, 1);
}

TEST_F(LimiterTest, it_asks_again_exactly_when_it_was_told_to) {
  Got got;
  const Instant start = clock.now();
  ask_often(1000, high, 10s, got);
  run_for(5s);
  ASSERT_EQ(got.permits.size(), 1000U);
  EXPECT_EQ(got.permits[449], start);
  EXPECT_EQ(got.permits[450], start + 1020ms);
  EXPECT_EQ(got.permits[999], start + 2040ms);
  EXPECT_EQ(limit.draws, 5) << "three that gave, two that were told to wait";
}

TEST_F(LimiterTest, the_first_priority_goes_first) {
  Got first;
  Got second;
  ask_often(450, high, 10s, first);
  run_for(1ms);
  ask_often(500, low, 10s, second);
  run_for(500ms);
  ask_often(450, high, 10s, first);
  run_for(600ms);
  EXPECT_EQ(first.permits.size(), 900U) << "they came later and were served before";
  EXPECT_EQ(second.permits.size(), 0U);
  run_for(5s);
  EXPECT_EQ(second.permits.size(), 500U);
}

TEST_F(LimiterTest, what_low_cannot_touch_is_high_s_at_once) {
  Got lows;
  Got highs;
  ask_often(2000, low, 10s, lows);
  run_for(10ms);
  EXPECT_EQ(lows.permits.size(), 350U);
  ask_often(100, high, 10s, highs);
  run_for(1ms);
  EXPECT_EQ(highs.permits.size(), 100U);
}

TEST_F(LimiterTest, who_cannot_be_served_in_time_is_told_at_once_when_to_come_back) {
  Got got;
  ask_often(450, high, 1s, got);
  ask_often(1, high, 500ms, got);
  run_for(1ms);
  ASSERT_EQ(got.refused.size(), 1U);
  EXPECT_EQ(got.refused[0], 1020ms);
  run_for(299ms);
  ask_often(1, high, 500ms, got);
  run_for(1us);
  ASSERT_EQ(got.refused.size(), 2U);
  EXPECT_EQ(got.refused[1], 720ms);
  EXPECT_EQ(limit.draws, 2) << "a known answer is not asked for again";
}

TEST_F(LimiterTest, trying_never_waits_for_a_window) {
  Got got;
  for (int i = 0; i < 460; ++i) scope.spawn("caller", ask_at_once(limiter, clock, high, got));
  run_for(1us);
  EXPECT_EQ(got.permits.size(), 450U);
  EXPECT_EQ(got.refused, std::vector<Duration>(10, 1020ms));
}

TEST_F(LimiterTest, behind_a_busy_priority_a_deadline_holds_all_the_same) {
  Got lows;
  Got highs;
  limit.takes = 1ms;
  ask_often(1, low, 100ms, lows);
  for (int i = 0; i < 300; ++i) {
    ask_often(1, high, 1s, highs);
    run_for(1ms);
  }
  EXPECT_EQ(lows.permits.size() + lows.refused.size(), 1U);
}

TEST_F(LimiterTest, permits_that_come_too_late_are_thrown_away) {
  Got got;
  limit.takes = 25ms;
  ask_often(5, high, 10s, got);
  run_for(500ms);
  EXPECT_EQ(got.permits.size(), 0U);
  limit.takes = 5ms;
  run_for(2s);
  EXPECT_EQ(got.permits.size(), 5U);
}

TEST_F(LimiterTest, after_permits_that_came_too_late_it_asks_for_one_until_one_comes_in_time) {
  Got got;
  limit.takes = 25ms;
  ask_often(100, high, 10s, got);
  run_for(251ms);
  EXPECT_EQ(got.permits.size(), 0U);
  EXPECT_EQ(limit.given, 100 + 10) << "all of them once, then one every 25 ms";
  limit.takes = 5ms;
  run_for(100ms);
  EXPECT_EQ(got.permits.size(), 100U);
  EXPECT_LE(limit.given, 100 + 10 + 1 + 1 + 99);
}

TEST_F(LimiterTest, high_of_one_process_goes_before_low_of_another) {
  Got highs;
  Got lows;
  Limiter other({limit, nullptr, clock, random}, context.get_executor());
  TaskScope scope_of_other(context.get_executor());
  other.start(scope_of_other);
  ask_often(4900, high, 20s, highs);
  for (int i = 0; i < 4900; ++i) scope_of_other.spawn("caller", ask(other, clock, low, 20s, lows));
  run_for(10s);
  EXPECT_GT(highs.permits.size(), 4200U) << "of 441 a second";
  EXPECT_LT(lows.permits.size(), 400U);
  run_for(10s);
  EXPECT_EQ(highs.permits.size(), 4900U);
  EXPECT_GT(lows.permits.size(), 2000U) << "when no caller wants more of HIGH";
  scope_of_other.cancel();
  run_for(0s);
}

TEST_F(LimiterTest, an_engine_that_fails_fails_its_callers) {
  Got got;
  limit.down = true;
  ask_often(3, high, 10s, got);
  ask_often(3, low, 10s, got);
  run_for(1ms);
  EXPECT_EQ(got.failed, 6);
  limit.down = false;
  ask_often(1, high, 10s, got);
  run_for(1ms);
  EXPECT_EQ(got.permits.size(), 1U);
}

TEST_F(LimiterTest, too_many_waiting_are_refused_before_any_work) {
  Got got;
  ask_often(5600, high, 100s, got);
  run_for(1us);
  EXPECT_EQ(got.failed, 600);
  EXPECT_EQ(got.permits.size(), 450U);
}

TEST_F(LimiterTest, a_caller_who_left_does_not_hold_up_the_next) {
  Got got;
  ask_often(450, high, 1s, got);
  run_for(1ms);
  TaskScope leaving(context.get_executor());
  leaving.spawn("caller", ask(limiter, clock, high, 10s, got));
  ask_often(1, high, 10s, got);
  run_for(1ms);
  leaving.cancel();
  run_for(2s);
  EXPECT_EQ(got.permits.size(), 451U);
  EXPECT_EQ(limiter.waiting(), 0U);
}

struct DayLimiterTest : LimiterTest {
  DayLimiterTest() : LimiterTest(plan_with_day(), &days) {
    days.save(40);
    days.answers_after = 5ms;
  }

  PretendDayRows rows;
  PretendDays days{plan_with_day(), rows, clock};
};

TEST_F(DayLimiterTest, credit_is_refilled_before_it_is_spent) {
  Got got;
  for (int i = 0; i < 100; ++i) {
    ask_often(1, low, 10ms, got);
    run_for(50ms);
  }
  EXPECT_EQ(got.permits.size(), 100U) << "20 a second of 40";
  EXPECT_LE(days.taken, 200);
  EXPECT_EQ(got.permits[50].time_since_epoch() % 50ms, 0ms) << "no caller waits for the database";
}

TEST_F(DayLimiterTest, a_paced_day_holds_its_priority_back_and_no_other) {
  Got lows;
  Got highs;
  ask_often(1000, low, 10s, lows);
  ask_often(10, high, 10s, highs);
  run_for(3s);
  EXPECT_GE(lows.permits.size(), 120U);
  EXPECT_LE(lows.permits.size(), 160U);
  EXPECT_EQ(highs.permits.size(), 10U);
  EXPECT_LE(days.asked, 2 * 12 + 2) << "once for a quarter of a second's share, once for when the next is there";
}

TEST_F(DayLimiterTest, without_the_database_there_is_no_credit_and_no_permit) {
  Got got;
  days.down = true;
  ask_often(3, low, 10s, got);
  run_for(100ms);
  EXPECT_EQ(got.failed, 3);
  ask_often(1, high, 10s, got);
  run_for(1ms);
  EXPECT_EQ(got.permits.size(), 1U);
  days.down = false;
  run_for(2s);
  ask_often(1, low, 10s, got);
  run_for(100ms);
  EXPECT_EQ(got.permits.size(), 2U);
}

}  // namespace
}  // namespace sluice::coordination
