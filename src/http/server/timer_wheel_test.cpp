#include "http/server/timer_wheel.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

struct Alarm final : TimerWheel::Entry {
  void on_timeout() override { ++fired; }
  int fired = 0;
};

struct TimerWheelTest : testing::Test {
  // Ticks until `wanted` fires; nothing fires within 2,000 otherwise.
  int ticks_until(const Alarm& wanted) {
    for (int ticks = 1; ticks < 2'000; ++ticks) {
      wheel.advance();
      if (wanted.fired > 0) return ticks;
    }
    return -1;
  }
  TimerWheel wheel{10ms};
  Alarm alarm;
};

TEST_F(TimerWheelTest, fires_once_and_never_early) {
  wheel.set(alarm, 95ms);
  EXPECT_EQ(ticks_until(alarm), 11);
  for (int i = 0; i < 1'000; ++i) wheel.advance();
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(TimerWheelTest, a_time_beyond_the_ring_is_kept) {
  wheel.set(alarm, 12s);
  EXPECT_EQ(ticks_until(alarm), 1'201);
}

TEST_F(TimerWheelTest, can_be_moved_both_ways) {
  wheel.set(alarm, 100ms);
  wheel.set(alarm, 500ms);
  wheel.set(alarm, 200ms);
  EXPECT_EQ(ticks_until(alarm), 21);
}

TEST_F(TimerWheelTest, can_be_cleared_and_set_again) {
  wheel.set(alarm, 100ms);
  wheel.clear(alarm);
  EXPECT_EQ(ticks_until(alarm), -1);
  wheel.set(alarm, 20ms);
  EXPECT_EQ(ticks_until(alarm), 3);
}

TEST_F(TimerWheelTest, an_entry_that_goes_takes_its_timeout_along) {
  {
    Alarm gone;
    wheel.set(gone, 20ms);
  }
  wheel.set(alarm, 20ms);
  EXPECT_EQ(ticks_until(alarm), 3);
}

}  // namespace
}  // namespace sluice::http
