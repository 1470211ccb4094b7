#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/breaker.h"
#include "runtime/deadline.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/offload.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"
#include "runtime/virtual_clock.h"
#include "runtime/wakeup.h"

namespace sluice {
namespace {

// Runs tasks in virtual time until nothing is left to do.
struct RuntimeTest : testing::Test {
  void run(Task<> task) {
    bool ended = false;
    asio::co_spawn(context, std::move(task), [&ended](const std::exception_ptr& error) {
      ended = true;
      if (error) std::rethrow_exception(error);
    });
    clock.run(context);
    EXPECT_TRUE(ended) << "the task is stuck";
  }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
};

Task<> note_after(Clock& with, Duration delay, std::vector<int>& notes, int note) {
  co_await with.sleep_for(delay);
  notes.push_back(note);
}

Task<int> answer_after(Clock& with, Duration delay) {
  co_await with.sleep_for(delay);
  co_return 42;
}

using VirtualClockTest = RuntimeTest;
TEST_F(VirtualClockTest, wakes_sleepers_in_order_without_waiting) {
  std::vector<int> notes;
  TaskScope scope(context.get_executor());
  scope.spawn("c", note_after(clock, 24h, notes, 3));
  scope.spawn("a", note_after(clock, 1s, notes, 1));
  scope.spawn("b", note_after(clock, 1s, notes, 2));
  clock.run(context);
  EXPECT_EQ(notes, (std::vector{1, 2, 3}));
  EXPECT_EQ(clock.now(), Instant{} + 24h);
}

using TaskScopeTest = RuntimeTest;
TEST_F(TaskScopeTest, close_cancels_and_waits_for_every_task) {
  std::vector<int> notes;
  TaskScope scope(context.get_executor());
  scope.spawn("late", note_after(clock, 1h, notes, 1));
  scope.spawn("later", note_after(clock, 2h, notes, 2));
  context.poll();
  run(scope.close());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(scope.running(), 0U);
  scope.spawn("refused", note_after(clock, 1s, notes, 3));
  EXPECT_EQ(scope.running(), 0U);
}

TEST_F(TaskScopeTest, join_waits_without_cancelling) {
  std::vector<int> notes;
  TaskScope scope(context.get_executor());
  scope.spawn("late", note_after(clock, 1h, notes, 1));
  run(scope.join());
  EXPECT_EQ(notes, std::vector{1});
}

Task<> join_then_note(TaskScope& joined, Clock& with, std::vector<int>& notes) {
  co_await joined.join();
  notes.push_back(1);
  co_await with.sleep_for(24h);
  notes.push_back(2);
}

TEST_F(TaskScopeTest, a_caller_that_has_joined_can_be_cancelled_as_before) {
  std::vector<int> notes;
  TaskScope nothing(context.get_executor());
  TaskScope callers(context.get_executor());
  callers.spawn("caller", join_then_note(nothing, clock, notes));
  context.poll();
  callers.cancel();
  context.poll();
  EXPECT_EQ(notes, std::vector{1});
  EXPECT_EQ(callers.running(), 0U) << "the caller sleeps on though it was cancelled";
  clock.run(context);
}

TEST_F(TaskScopeTest, a_caller_cancelled_while_it_joins_waits_for_the_tasks_and_then_ends) {
  std::vector<int> notes;
  TaskScope tasks(context.get_executor());
  TaskScope callers(context.get_executor());
  tasks.spawn("task", note_after(clock, 1h, notes, 0));
  callers.spawn("caller", join_then_note(tasks, clock, notes));
  context.poll();
  callers.cancel();
  context.poll();
  EXPECT_EQ(callers.running(), 1U);
  clock.run(context);
  EXPECT_EQ(notes, (std::vector{0, 1}));
  EXPECT_EQ(clock.now(), Instant{} + 1h);
}

using DeadlineTest = RuntimeTest;
TEST_F(DeadlineTest, a_task_in_time_gives_its_result) {
  const auto body = [](DeadlineTest& test) -> Task<> {
    const int value =
        co_await with_deadline(test.clock, Deadline::after(test.clock, 2s), "test", answer_after(test.clock, 1s));
    EXPECT_EQ(value, 42);
  };
  run(body(*this));
}

TEST_F(DeadlineTest, a_late_task_is_cancelled_and_told) {
  const auto body = [](DeadlineTest& test) -> Task<> {
    bool late = false;
    try {
      co_await with_deadline(test.clock, Deadline::after(test.clock, 1s), "test", answer_after(test.clock, 1h));
    } catch (const DeadlineExceeded&) {
      late = true;
    }
    EXPECT_TRUE(late);
    EXPECT_EQ(test.clock.now(), Instant{} + 1s);
  };
  run(body(*this));
}

Task<> fail_with(std::string what) {
  throw EngineUnavailable("test", what);
  co_return;
}

TEST_F(DeadlineTest, a_failing_task_fails_at_once) {
  const auto body = [](DeadlineTest& test) -> Task<> {
    EXPECT_EQ(test.clock.now(), Instant{});
    bool failed = false;
    try {
      co_await with_deadline(test.clock, Deadline::after(test.clock, 1h), "test", fail_with("down"));
    } catch (const DeadlineExceeded&) {
    } catch (const EngineUnavailable&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_EQ(test.clock.now(), Instant{});
  };
  run(body(*this));
}

Task<> wait_and_note(Wakeup& wakeup, std::vector<int>& notes, int note) {
  co_await wakeup.wait();
  notes.push_back(note);
}

using WakeupTest = RuntimeTest;
TEST_F(WakeupTest, wakes_all_who_wait_and_is_not_remembered) {
  std::vector<int> notes;
  Wakeup wakeup(context.get_executor());
  TaskScope scope(context.get_executor());
  wakeup.notify_all();
  scope.spawn("a", wait_and_note(wakeup, notes, 1));
  scope.spawn("b", wait_and_note(wakeup, notes, 2));
  context.poll();
  EXPECT_TRUE(notes.empty());
  wakeup.notify_all();
  clock.run(context);
  EXPECT_EQ(notes.size(), 2U);
  scope.spawn("c", wait_and_note(wakeup, notes, 3));
  context.restart();
  context.poll();
  run(scope.close());
  EXPECT_EQ(notes.size(), 2U);
}

using RetryTest = RuntimeTest;

Task<int> work_at_the_third_time(int& calls) {
  if (++calls < 3) throw EngineUnavailable("test", "down");
  co_return calls;
}

Task<> time_out(int& calls) {
  ++calls;
  throw DeadlineExceeded("test");
  co_return;
}

TEST_F(RetryTest, goes_on_after_failures_that_may_pass) {
  const auto body = [](RetryTest& test) -> Task<> {
    RetryBudget budget;
    int calls = 0;
    const auto attempt = [&calls] { return work_at_the_third_time(calls); };
    RetryPolicy policy{test.clock, test.random, budget};
    const int value = co_await retry(policy, attempt);
    EXPECT_EQ(value, 3);
  };
  run(body(*this));
}

TEST_F(RetryTest, an_unknown_outcome_is_not_repeated) {
  const auto body = [](RetryTest& test) -> Task<> {
    RetryBudget budget;
    int calls = 0;
    const auto attempt = [&calls] { return time_out(calls); };
    RetryPolicy policy{test.clock, test.random, budget};
    bool failed = false;
    try {
      co_await retry(policy, attempt);
    } catch (const DeadlineExceeded&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_EQ(calls, 1);
  };
  run(body(*this));
}

Task<> fail_twice(Clock& clock, int& calls) {
  if (++calls == 1) throw EngineUnavailable("test", "down");
  if (calls == 2) throw EngineRefused("no such table");
  co_await clock.sleep_for(24h);
}

TEST_F(RetryTest, a_loop_outlives_an_engine_that_is_away_and_one_that_refuses) {
  int calls = 0;
  TaskScope scope(context.get_executor());
  scope.spawn("loop", run_forever("loop", clock, random, [&] { return fail_twice(clock, calls); }));
  clock.run(context, clock.now() + 1min);
  EXPECT_EQ(calls, 3);
  run(scope.close());
}

TEST(RetryBudget, adds_at_most_a_fifth_when_everything_fails) {
  RetryBudget budget;
  int retries = 0;
  for (int i = 0; i < 1000; ++i) {
    budget.on_call();
    while (budget.take_retry()) ++retries;
  }
  EXPECT_LE(retries, 210);
  EXPECT_GE(retries, 200);
}

TEST(Backoff, grows_to_its_limit_and_is_jittered) {
  SeededRandom random(3);
  const Backoff backoff{.first = 100ms, .factor = 2, .max = 1s};
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(backoff.delay(0, random), 100ms);
    EXPECT_LE(backoff.delay(20, random), 1s);
  }
  EXPECT_NE(backoff.delay(9, random), backoff.delay(9, random));
}

TEST(CircuitBreaker, opens_at_half_of_ten_and_closes_after_five_good_trials) {
  CircuitBreaker breaker;
  Instant now{};
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(breaker.allow(now));
    breaker.record(i % 2 == 0, now);
  }
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::open);
  EXPECT_FALSE(breaker.allow(now));
  EXPECT_EQ(breaker.retry_after(now), 30s);
  now += 30s;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(breaker.allow(now));
  EXPECT_FALSE(breaker.allow(now)) << "only five trials at once";
  for (int i = 0; i < 5; ++i) breaker.record(true, now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::closed);
}

TEST(CircuitBreaker, a_failed_trial_opens_it_for_longer) {
  CircuitBreaker breaker;
  Instant now{};
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(breaker.allow(now));
    breaker.record(false, now);
  }
  now += 30s;
  ASSERT_TRUE(breaker.allow(now));
  breaker.record(false, now);
  EXPECT_EQ(breaker.retry_after(now), 60s);
}

TEST(CircuitBreaker, a_sign_of_life_lets_trial_calls_pass_before_the_time) {
  CircuitBreaker breaker({.window = 1, .trial_calls = 1});
  const Instant now{};
  breaker.sign_of_life(now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::closed);
  ASSERT_TRUE(breaker.allow(now));
  breaker.record(false, now);
  EXPECT_FALSE(breaker.allow(now));
  breaker.sign_of_life(now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::half_open);
  ASSERT_TRUE(breaker.allow(now));
  breaker.record(true, now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::closed);
}

TEST(CircuitBreaker, a_forgotten_trial_makes_room_for_another) {
  CircuitBreaker breaker({.window = 1, .trial_calls = 1});
  Instant now{};
  ASSERT_TRUE(breaker.allow(now));
  breaker.record(false, now);
  now += 30s;
  ASSERT_TRUE(breaker.allow(now));
  breaker.forget();
  EXPECT_TRUE(breaker.allow(now));
}

TEST(Offload, runs_elsewhere_and_answers_here) {
  asio::io_context context;
  Offload offload("test", 2, 10);
  const auto body = [](Offload& pool) -> Task<> {
    const auto here = std::this_thread::get_id();
    const auto work = [] { return std::this_thread::get_id(); };
    const auto there = co_await pool.run(work);
    EXPECT_NE(here, there);
    EXPECT_EQ(here, std::this_thread::get_id());
    const auto failing = []() -> int { throw std::runtime_error("no"); };
    EXPECT_THROW(co_await pool.run(failing), std::runtime_error);
  };
  asio::co_spawn(context, body(offload), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

TEST(Offload, refuses_what_exceeds_its_queue) {
  asio::io_context context;
  std::mutex gate;
  std::atomic<bool> busy{false};
  gate.lock();
  Offload offload("test", 1, 1);
  int refused = 0;
  const auto body = [](Offload& pool, std::mutex& hold, std::atomic<bool>& started, int& refusals) -> Task<> {
    try {
      const auto work = [&hold, &started] {
        started = true;
        started.notify_all();
        const std::lock_guard lock(hold);
      };
      co_await pool.run(work);
    } catch (const Overloaded&) {
      ++refusals;
    }
  };
  const auto start = [&] {
    asio::co_spawn(context, body(offload, gate, busy, refused), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
    context.poll();
  };
  start();
  busy.wait(false);  // the only thread is taken
  start();           // waits
  start();           // one too many
  gate.unlock();
  context.restart();
  context.run();
  EXPECT_EQ(refused, 1);
}

TEST(Metrics, are_exposed_in_prometheus_form) {
  const metrics::Counter counter{"test_total", "Tests.", {"kind"}};
  const metrics::Gauge gauge{"test_level", "Level."};
  const metrics::Histogram histogram{"test_seconds", "Time.", {}, {0.1, 1}};
  counter.with({"a\"b"}).add(2);
  gauge.set(1.5);
  histogram.observe(0.05);
  histogram.observe(0.5);
  histogram.observe(5);
  const std::string text = metrics::expose();
  for (const std::string_view line :
       {"# HELP test_total Tests.\n# TYPE test_total counter\ntest_total{kind=\"a\\\"b\"} 2\n", "test_level 1.5\n",
        "test_seconds_bucket{le=\"0.1\"} 1\n", "test_seconds_bucket{le=\"1\"} 2\n",
        "test_seconds_bucket{le=\"+Inf\"} 3\n", "test_seconds_sum 5.55\n", "test_seconds_count 3\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST(Log, writes_one_json_line_whatever_the_fields_hold) {
  VirtualClock clock;
  const log::Options options{.clock = &clock};
  EXPECT_EQ(log::format_entry(options, log::Level::info, "hi", {{"n", 3}, {"ok", true}, {"t", "a\"\n\x01\xff"}}),
            "{\"time\":\"2026-01-01T00:00:00.000Z\",\"level\":\"info\",\"message\":\"hi\",\"n\":3,\"ok\":true,"
            "\"t\":\"a\\\"\\n\\u0001\xef\xbf\xbd\"}");
  EXPECT_EQ(log::format_entry({.format = log::Format::text}, log::Level::warning, "hi", {{"x", 1.5}}),
            "warning hi x=1.5");
}

}  // namespace
}  // namespace sluice
