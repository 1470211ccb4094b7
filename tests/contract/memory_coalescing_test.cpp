#include "adapters/memory/memory_coalescing.h"

#include <atomic>
#include <thread>

#include "coordination/testing/pretend_floors.h"
#include "runtime/system_clock.h"
#include "runtime/virtual_clock.h"
#include "tests/contract/coalescing_suite.h"
#include "tests/contract/coalescing_walk_suite.h"

namespace sluice::test {
namespace {

using coordination::CoalescingPlan;
using coordination::RefreshOutcome;
using memory::MemoryCoalescing;

// One process: both instances are the same, and losing everything is a restart.
class OpenMemoryCoalescing : public OpenCoalescing {
 public:
  explicit OpenMemoryCoalescing(CoalescingPlan plan) : plan_(std::move(plan)) { wipe(); }
  coordination::Coalescing& one() override { return *coalescing_; }
  coordination::Coalescing& other() override { return *coalescing_; }
  void wipe() override { coalescing_.emplace(plan_, floors_.floor(fmt::format("run {}", ++runs_)), clock_); }

 private:
  CoalescingPlan plan_;
  SystemClock clock_;
  coordination::PretendFloors floors_{clock_};
  int runs_ = 0;
  std::optional<MemoryCoalescing> coalescing_;
};

const auto memory_engine =
    testing::Values(CoalescingEngine{.name = "memory", .open = [](asio::io_context&, CoalescingPlan plan) {
                                       return std::make_unique<OpenMemoryCoalescing>(plan);
                                     }});

class MemoryCoalescingTest : public TaskFixture {
 protected:
  RefreshOutcome ask(const std::string& item, Duration lag = 20min) {
    return run(coalescing_.request({item, 0, 0, {lag}})).outcome;
  }

  VirtualClock clock_;
  MemoryCoalescing coalescing_{{.lanes = {{"only", 1min}}}, {}, clock_, 100};
};

TEST_F(MemoryCoalescingTest, an_item_is_forgotten_45_minutes_after_its_last_use) {
  for (int i = 0; i < 50; ++i) ask(fmt::format("item {}", i));
  clock_.advance(39min);
  EXPECT_EQ(ask("item 7"), RefreshOutcome::already);
  clock_.advance(44min);
  EXPECT_EQ(ask("item 7"), RefreshOutcome::repeated) << "40 minutes are too long for a message, and the item is known";
  EXPECT_EQ(coalescing_.items(), 1U);
  clock_.advance(46min);
  EXPECT_EQ(ask("item 7"), RefreshOutcome::published);
}

TEST_F(MemoryCoalescingTest, an_item_whose_lane_lags_is_kept_as_long_as_its_message_may_wait) {
  ask("item", 10h);
  clock_.advance(15h);
  EXPECT_EQ(ask("item", 10h), RefreshOutcome::already);
  run(coalescing_.finish("item", "owner", run(coalescing_.request({"item", 0, 0, {10h}})).message.version));
  clock_.advance(46min);
  EXPECT_EQ(ask("another"), RefreshOutcome::published);
  EXPECT_EQ(coalescing_.items(), 1U) << "nothing of it waits any more";
}

TEST_F(MemoryCoalescingTest, beyond_its_bound_it_forgets_what_was_used_longest_ago) {
  for (int i = 0; i < 100; ++i) ask(fmt::format("item {}", i));
  EXPECT_EQ(ask("item 0"), RefreshOutcome::already);
  ask("one more");
  EXPECT_EQ(coalescing_.items(), 100U);
  EXPECT_EQ(ask("item 0"), RefreshOutcome::already);
  EXPECT_EQ(ask("item 1"), RefreshOutcome::published);
}

TEST(MemoryCoalescingThreads, of_many_threads_one_publishes_each_time) {
  SystemClock clock;
  MemoryCoalescing coalescing({.lanes = {{"only", 1min}}}, {}, clock);
  std::atomic<int> published = 0;
  const auto ask_for_all = [&] {
    asio::io_context io;
    for (int i = 0; i < 200; ++i) {
      asio::co_spawn(io, coalescing.request({fmt::format("item {}", i)}), [&](const auto&, const auto& answer) {
        if (answer.to_publish()) ++published;
      });
    }
    io.run();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(ask_for_all);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(published, 200);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Memory, CoalescingContract, memory_engine);
INSTANTIATE_TEST_SUITE_P(Memory, CoalescingWalk, memory_engine);

}  // namespace sluice::test
