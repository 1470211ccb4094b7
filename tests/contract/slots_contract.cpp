// Contract of every coordination::Slots, tested on a real engine.
#include "tests/contract/slots_suite.h"

namespace sluice::test {

namespace contract {

struct SlotCount {
  int64_t now = 0;
  int64_t highest = 0;
  int64_t taken = 0;
};

// Takes slots again and again and looks how many others have one meanwhile.
inline Task<> take_often(coordination::Slots& slots, std::string key, int64_t n, SlotCount& count) {
  for (int round = 0; round < 20; ++round) {
    const auto slot = co_await slots.take(key, n, "taker", 1min);
    if (!slot) continue;
    ++count.taken;
    count.highest = std::max(count.highest, ++count.now);
    const int64_t in_use = co_await slots.in_use(key);
    count.highest = std::max(count.highest, in_use);
    --count.now;
    co_await slots.give_back(*slot);
  }
}

}  // namespace contract

TEST_P(SlotsContract, of_many_callers_exactly_n_get_one) {
  EXPECT_EQ(numbers(race(3, 30)), (std::set<int64_t>{1, 2, 3}));
  EXPECT_EQ(in_use(), 3);
  EXPECT_TRUE(race(3, 30).empty());
}

TEST_P(SlotsContract, one_after_the_other_gets_each_of_them) {
  std::vector<Slot> got;
  for (int i = 0; i < 4; ++i) got.push_back(take(4).value());
  EXPECT_EQ(numbers(got), (std::set<int64_t>{1, 2, 3, 4}));
  EXPECT_FALSE(take(4));
}

TEST_P(SlotsContract, never_more_than_n_at_once_also_where_callers_differ_on_n) {
  contract::SlotCount count;
  std::vector<Task<>> takers;
  for (int i = 0; i < 15; ++i) takers.push_back(contract::take_often(port(), key_, 1 + i % 3, count));
  for (const auto& outcome : run_all(std::move(takers))) EXPECT_FALSE(outcome.error);
  EXPECT_LE(count.highest, 3);
  EXPECT_GE(count.taken, 3);
  EXPECT_EQ(in_use(), 0);
}

TEST_P(SlotsContract, a_slot_given_back_is_free_at_once) {
  const Slot first = take(1).value();
  EXPECT_FALSE(take(1));
  run(port().give_back(first));
  EXPECT_EQ(in_use(), 0);
  const Slot second = take(1).value();
  EXPECT_GT(second.token, first.token);
}

TEST_P(SlotsContract, expired_slots_come_back_each_once) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(take(3, 150ms));
  ASSERT_TRUE(eventually([&] { return in_use() == 0; }));
  EXPECT_EQ(race(3, 20).size(), 3U);
}

TEST_P(SlotsContract, a_renewed_slot_outlives_its_ttl) {
  Slot kept;
  // Again where this machine stood still for longer than that.
  ASSERT_TRUE(eventually([&] {
    kept = take(2, 1s).value();
    return run(port().renew(kept, 1min));
  }));
  const Slot reference = take(2, 200ms).value();
  ASSERT_TRUE(eventually([&] { return in_use() == 1; }));
  EXPECT_FALSE(run(port().renew(reference, 1min))) << "lost slots stay lost";
  EXPECT_TRUE(run(port().renew(kept, 1min)));
}

TEST_P(SlotsContract, a_lost_slot_changes_nothing_for_its_next_taker) {
  const Slot lost = take(1, 50ms).value();
  ASSERT_TRUE(eventually([&] { return in_use() == 0; }));
  const Slot current = take(1).value();
  EXPECT_FALSE(run(port().renew(lost, 1min)));
  run(port().give_back(lost));
  EXPECT_EQ(in_use(), 1);
  EXPECT_TRUE(run(port().renew(current, 1min)));
}

TEST_P(SlotsContract, keys_do_not_share_slots) {
  ASSERT_TRUE(take(1));
  EXPECT_TRUE(run(port().take(unique("slots"), 1, "me", 1min)));
}

TEST_P(SlotsContract, slots_nobody_gives_back_limit_the_rate) {
  constexpr Duration window = 100ms;
  constexpr size_t n = 4;
  struct Taken {
    std::chrono::steady_clock::time_point asked, got;
  };
  std::vector<Taken> taken;
  ASSERT_TRUE(eventually([&] {
    const auto asked = std::chrono::steady_clock::now();
    if (take(n, window)) taken.push_back({asked, std::chrono::steady_clock::now()});
    return taken.size() == 4 * n;
  }));
  // A millisecond for the difference between this program's clock and the engine's.
  for (size_t i = n; i < taken.size(); ++i) EXPECT_GE(taken[i].got - taken[i - n].asked, window - 1ms) << i;
}

}  // namespace sluice::test
