#include "accounts/remembered_callers.h"

#include <latch>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "runtime/errors.h"
#include "runtime/io_threads.h"
#include "runtime/virtual_clock.h"

namespace sluice::accounts {
namespace {

// Knows "known" and takes its time to say so; counts how often it was asked.
class SlowCallers : public Callers {
 public:
  explicit SlowCallers(Clock& clock) : clock_(clock) {}
  Task<std::optional<Caller>> identify(std::string token) override {
    ++asked;
    co_await clock_.sleep_for(takes);
    if (token == "known") co_return Caller{{}, Role::service, "worker"};
    co_return std::nullopt;
  }
  Duration takes = 1s;
  int asked = 0;

 private:
  Clock& clock_;
};

enum class Seen { known, unknown, refused };

Task<> ask(Callers& callers, std::string token, std::vector<Seen>& seen) {
  try {
    const std::optional<Caller> caller = co_await callers.identify(std::move(token));
    seen.push_back(caller ? Seen::known : Seen::unknown);
  } catch (const Overloaded&) {
    seen.push_back(Seen::refused);
  }
}

struct RememberedCallersTest : testing::Test {
  // Asks for all tokens at once; returns the answers in their order.
  std::vector<Seen> ask_all(const std::vector<std::string>& tokens) {
    std::vector<Seen> seen;
    TaskScope asking(context.get_executor());
    for (const std::string& token : tokens) asking.spawn("caller", ask(callers, token, seen));
    clock.run(context);
    return seen;
  }
  Seen ask_for(const std::string& token) { return ask_all({token}).front(); }

  asio::io_context context;
  VirtualClock clock;
  SlowCallers source{clock};
  TaskScope scope{context.get_executor()};
  RememberedCallers callers{source, clock, scope, context.get_executor()};
};

TEST_F(RememberedCallersTest, an_unknown_token_that_is_repeated_is_looked_up_once) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask_for("wrong"), Seen::unknown);
  EXPECT_EQ(source.asked, 1);
  clock.advance(RememberedCallers::remember_for);
  EXPECT_EQ(ask_for("wrong"), Seen::unknown);
  EXPECT_EQ(source.asked, 2);
}

TEST_F(RememberedCallersTest, a_crowd_with_one_token_shares_one_look_also_when_its_time_is_over) {
  EXPECT_EQ(ask_all(std::vector<std::string>(100, "known")), std::vector(100, Seen::known));
  EXPECT_EQ(source.asked, 1);
  clock.advance(RememberedCallers::remember_for);
  EXPECT_EQ(ask_all(std::vector<std::string>(100, "known")), std::vector(100, Seen::known));
  EXPECT_EQ(source.asked, 2);
}

TEST_F(RememberedCallersTest, any_number_of_strangers_leaves_known_callers_remembered) {
  source.takes = 0s;
  EXPECT_EQ(ask_for("known"), Seen::known);
  for (size_t i = 0; i <= RememberedCallers::most_unknown; ++i) EXPECT_EQ(ask_for(std::to_string(i)), Seen::unknown);
  const int asked = source.asked;
  EXPECT_EQ(ask_for("known"), Seen::known);
  EXPECT_EQ(source.asked, asked);
}

TEST_F(RememberedCallersTest, a_flood_of_wrong_tokens_is_refused_and_a_caller_known_before_is_not) {
  EXPECT_EQ(ask_for("known"), Seen::known);
  clock.advance(RememberedCallers::remember_for);
  std::vector<std::string> flood;
  for (int i = 0; i < 1000; ++i) flood.push_back("wrong " + std::to_string(i));
  flood.emplace_back("known");
  const std::vector<Seen> seen = ask_all(flood);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(seen, Seen::unknown)), RememberedCallers::most_looks);
  EXPECT_EQ(std::ranges::count(seen, Seen::known), 1);
}

// Answers at once, on the thread of the caller.
class QuickCallers : public Callers {
 public:
  Task<std::optional<Caller>> identify(std::string) override {
    ++asked;
    co_return Caller{{}, Role::service, "worker"};
  }
  std::atomic<int> asked = 0;
};

Task<> ask_often(Callers& callers, std::atomic<int>& known) {
  for (int i = 0; i < 100; ++i) {
    const std::optional<Caller> caller = co_await callers.identify("known");
    known += caller ? 1 : 0;
  }
}

TEST(RememberedCallersOverThreads, a_crowd_on_all_threads_shares_one_look) {
  IoThreads threads(4);
  TaskScope scope(threads.executor(0));
  VirtualClock clock;
  QuickCallers source;
  RememberedCallers callers(source, clock, scope, threads.executor(0));
  std::atomic<int> known = 0;
  std::latch ended(4);
  for (size_t i = 0; i < threads.size(); ++i) {
    asio::co_spawn(threads.executor(i), ask_often(callers, known),
                   [&ended](const std::exception_ptr&) { ended.count_down(); });
  }
  threads.start();
  ended.wait();
  threads.stop();
  EXPECT_EQ(known, 400);
  EXPECT_EQ(source.asked, 1);
}

}  // namespace
}  // namespace sluice::accounts
