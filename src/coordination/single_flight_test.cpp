#include "coordination/single_flight.h"

#include <latch>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "runtime/errors.h"
#include "runtime/io_threads.h"
#include "runtime/virtual_clock.h"

namespace sluice::coordination {
namespace {

Task<int> count_slowly(Clock& clock, int& count) {
  co_await clock.sleep_for(1s);
  co_return ++count;
}

Task<> join_flight(SingleFlight<int>& flights, Clock& clock, int& count, std::vector<int>& seen) {
  const auto work = [&clock, &count] { return count_slowly(clock, count); };
  const int value = co_await flights.run("a", work);
  seen.push_back(value);
}

struct SingleFlightTest : testing::Test {
  asio::io_context context;
  VirtualClock clock;
  TaskScope flights_scope{context.get_executor()};
  TaskScope first{context.get_executor()};
  TaskScope others{context.get_executor()};
  SingleFlight<int> flights{flights_scope, context.get_executor()};
  int count = 0;
  std::vector<int> seen;
};

TEST_F(SingleFlightTest, many_callers_share_one_run_also_when_the_first_hangs_up) {
  first.spawn("first", join_flight(flights, clock, count, seen));
  context.poll();
  for (int i = 0; i < 10; ++i) others.spawn("other", join_flight(flights, clock, count, seen));
  context.restart();
  context.poll();
  first.cancel();
  clock.run(context);
  EXPECT_EQ(seen, std::vector<int>(10, 1));
  EXPECT_EQ(flights.under_way(), 0U);
  others.spawn("later", join_flight(flights, clock, count, seen));
  clock.run(context);
  EXPECT_EQ(seen.back(), 2);
}

Task<> join_until(SingleFlight<int>& flights, Clock& clock, Instant until, int& count, std::vector<int>& seen) {
  const auto work = [&clock, &count] { return count_slowly(clock, count); };
  bool joined = false;
  const std::optional<int> value = co_await flights.run_until(clock, until, "a", work, joined);
  seen.push_back(value.value_or(-1));
}

TEST_F(SingleFlightTest, nobody_waits_longer_than_wanted_and_the_work_goes_on) {
  first.spawn("first", join_until(flights, clock, clock.now() + 100ms, count, seen));
  context.poll();
  others.spawn("patient", join_until(flights, clock, clock.now() + 2s, count, seen));
  others.spawn("impatient", join_until(flights, clock, clock.now() + 500ms, count, seen));
  clock.run(context, clock.now() + 600ms);
  EXPECT_EQ(seen, (std::vector<int>{-1, -1}));
  clock.run(context, clock.now() + 600ms);
  EXPECT_EQ(seen, (std::vector<int>{-1, -1, 1}));
  EXPECT_EQ(flights_scope.running(), 0U) << "no deadline is watched once it has landed";
}

Task<> note_failure(SingleFlight<int>& flights, Clock& clock, int& count, bool& aborted) {
  const auto work = [&clock, &count] { return count_slowly(clock, count); };
  try {
    co_await flights.run("a", work);
  } catch (const boost::system::system_error& error) {
    aborted = error.code() == asio::error::operation_aborted;
  }
}

TEST_F(SingleFlightTest, nobody_is_left_waiting_when_the_scope_is_closed) {
  bool under_way = false;
  bool late = false;
  first.spawn("under way", note_failure(flights, clock, count, under_way));
  context.poll();
  flights_scope.cancel();
  others.spawn("late", note_failure(flights, clock, count, late));
  clock.run(context);
  EXPECT_TRUE(under_way);
  EXPECT_TRUE(late);
  EXPECT_EQ(flights.under_way(), 0U);
}

Task<int> fail_slowly(Clock& clock) {
  co_await clock.sleep_for(1s);
  throw Overloaded("postgres", 7s);
}

Task<> keep_failure(SingleFlight<int>& flights, Clock& clock, std::vector<std::exception_ptr>& failures) {
  const auto work = [&clock] { return fail_slowly(clock); };
  try {
    co_await flights.run("a", work);
  } catch (const Overloaded& error) {
    EXPECT_STREQ(error.what(), "postgres: too many calls are waiting");
    EXPECT_EQ(error.engine(), "postgres");
    EXPECT_EQ(error.retry_after(), 7s);
    failures.push_back(std::current_exception());
  }
}

// Callers are on several threads, and an exception is not to be shared between threads (runtime/waiting_caller.h).
TEST_F(SingleFlightTest, each_caller_of_a_run_that_fails_gets_an_exception_of_its_own) {
  std::vector<std::exception_ptr> failures;
  for (int i = 0; i < 2; ++i) others.spawn("caller", keep_failure(flights, clock, failures));
  clock.run(context);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_NE(failures[0], failures[1]);
}

// Work that lasts until it is told to end.
struct Gate {
  explicit Gate(const Executor& executor) : opened(executor) {}
  Wakeup opened;
  bool open = false;
  int passed = 0;
};

Task<std::shared_ptr<int>> pass(Gate& gate) {
  while (!gate.open) co_await gate.opened.wait();
  co_return std::make_shared<int>(++gate.passed);
}

Task<> read(SingleFlight<std::shared_ptr<int>>& flights, Gate& gate, std::atomic<int>& sum) {
  const auto work = [&gate] { return pass(gate); };
  const std::shared_ptr<int> value = co_await flights.run("a", work);
  sum += *value;
}

TEST(SingleFlightOverThreads, a_crowd_on_all_threads_shares_one_run) {
  constexpr int readers_each = 300;
  IoThreads threads(4);
  TaskScope scope(threads.executor(0));
  SingleFlight<std::shared_ptr<int>> flights(scope, threads.executor(0));
  Gate gate(threads.executor(0));
  std::atomic<int> sum = 0;
  std::latch asked(4);
  std::latch answered(4 * readers_each);
  for (size_t i = 0; i < threads.size(); ++i) {
    for (int reader = 0; reader < readers_each; ++reader) {
      asio::co_spawn(threads.executor(i), read(flights, gate, sum),
                     [&answered](const std::exception_ptr&) { answered.count_down(); });
    }
    asio::post(threads.executor(i), [&asked] { asked.count_down(); });
  }
  threads.start();
  asked.wait();
  asio::post(threads.executor(0), [&gate] {
    gate.open = true;
    gate.opened.notify_all();
  });
  answered.wait();
  threads.stop();
  EXPECT_EQ(gate.passed, 1);
  EXPECT_EQ(sum, 4 * readers_each);
  EXPECT_EQ(flights.under_way(), 0U);
}

}  // namespace
}  // namespace sluice::coordination
