#include "documents/origin_gate.h"

#include <gtest/gtest.h>

#include "coordination/testing/pretend_limit.h"
#include "documents/origin_config.h"
#include "documents/testing/pretend_ports.h"
#include "runtime/task_scope.h"
#include "runtime/virtual_clock.h"

namespace sluice::documents {
namespace {

struct Visit {
  bool entered = false;
  bool refused = false;
  Instant at{};  // when it was let in or refused
  Duration slot_left{};
};

struct OriginGateTest : testing::Test {
  ~OriginGateTest() override {
    visitors.cancel();
    context.restart();
    context.poll();
  }

  void make(const GateConfig& config, int64_t max_per_second = 1000) {
    OriginConfig origin;
    origin.name = config.origin;
    origin.max_per_second = max_per_second;
    limit.emplace(rate_plan(origin), clock);
    gate.emplace(config, slots, *limit, clock, random, "me", context.get_executor());
  }
  Visit& visit(Duration stays, bool success = true) {
    Visit& made = visits.emplace_back();
    visitors.spawn("visitor", come_and_go(made, stays, success));
    return made;
  }
  Task<> come_and_go(Visit& made, Duration stays, bool success) {
    const std::optional<coordination::Slot> slot = co_await gate->enter();
    made.at = clock.now();
    made.entered = slot.has_value();
    made.refused = !slot;
    if (!slot) co_return;
    made.slot_left = slots.left(*slot);
    order.push_back(&made);
    co_await clock.sleep_for(stays);
    co_await gate->leave(*slot, success, stays);
  }
  // Another instance takes the slot that both lanes share and keeps it.
  Task<> occupy_shared() { co_await slots.take("origin/o/shared", 1, "other", 1h); }
  static Task<> enter(OriginGate& into) { co_await into.enter(); }
  // Comes back as soon as it has gone, as a crowd does.
  Task<> keep_coming(OriginGate& into) {
    while (true) {
      const std::optional<coordination::Slot> slot = co_await into.enter();
      co_await clock.sleep_for(50ms);
      if (slot) co_await into.leave(*slot, true, 50ms);
    }
  }
  void pass(Duration time) { clock.run(context, clock.now() + time); }

  asio::io_context context;
  VirtualClock clock;
  SeededRandom random{1};
  PretendSlots slots{clock};
  std::optional<coordination::PretendLimit> limit;
  std::optional<OriginGate> gate;
  std::deque<Visit> visits;
  std::vector<Visit*> order;
  TaskScope visitors{context.get_executor()};
};

TEST_F(OriginGateTest, at_most_max_concurrent_are_inside) {
  make({.origin = "o", .max_concurrent = 3});
  for (int i = 0; i < 9; ++i) visit(1s);
  pass(500ms);
  EXPECT_EQ(order.size(), 3U);
  pass(10s);
  EXPECT_EQ(order.size(), 9U);
  EXPECT_LT(order.back()->at - Instant{}, 2500ms);
}

TEST_F(OriginGateTest, strangers_get_one_slot_of_three_and_known_documents_all_that_are_left) {
  make({.origin = "o", .lane = Lane::strangers, .max_concurrent = 3});
  for (int i = 0; i < 3; ++i) visit(1min);
  pass(1s);
  EXPECT_EQ(order.size(), 1U);
  OriginGate known({.origin = "o", .max_concurrent = 3}, slots, *limit, clock, random, "me", context.get_executor());
  for (int i = 0; i < 3; ++i) visitors.spawn("known", enter(known));
  pass(10s);
  EXPECT_EQ(slots.taken(), 3);
  EXPECT_EQ(known.waiting(), 0U) << "the third was refused";
}

TEST_F(OriginGateTest, a_shrunk_gate_of_known_documents_does_not_wait_for_strangers) {
  make({.origin = "o", .max_concurrent = 3});
  visitors.spawn("stranger", occupy_shared());
  for (int i = 0; i < 2; ++i) {
    visit(1ms, false);
    pass(1s);
  }
  ASSERT_EQ(gate->limit(), 1);
  const Visit& next = visit(1ms);
  pass(1ms);
  EXPECT_TRUE(next.entered);
}

TEST_F(OriginGateTest, where_there_is_one_slot_a_crowd_of_strangers_leaves_it_to_known_documents_in_time) {
  make({.origin = "o", .max_concurrent = 1});
  OriginGate strangers({.origin = "o", .lane = Lane::strangers, .max_concurrent = 1}, slots, *limit, clock, random,
                       "me", context.get_executor());
  for (int i = 0; i < 10; ++i) visitors.spawn("stranger", keep_coming(strangers));
  pass(1min);
  for (int i = 0; i < 5; ++i) {
    const Visit& known = visit(50ms);
    pass(6s);
    EXPECT_TRUE(known.entered);
  }
  visitors.cancel();
  pass(1s);
}

TEST_F(OriginGateTest, strangers_have_a_rate_of_their_own) {
  make({.origin = "o", .lane = Lane::strangers, .max_concurrent = 3, .slot_wait = 1min});
  for (int i = 0; i < 10; ++i) visit(1ms);
  pass(1min);
  ASSERT_EQ(order.size(), 10U);
  for (size_t i = 2; i < order.size(); ++i) EXPECT_GE(order[i]->at - order[i - 2]->at, 1s);
}

TEST_F(OriginGateTest, first_come_first_served) {
  make({.origin = "o", .max_concurrent = 1, .slot_wait = 1min});
  for (int i = 0; i < 5; ++i) visit(1s);
  pass(1min);
  ASSERT_EQ(order.size(), 5U);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(order[i], &visits[i]);
}

TEST_F(OriginGateTest, who_would_wait_too_long_is_refused_at_once) {
  make({.origin = "o", .max_concurrent = 1, .slot_wait = 5s});
  visit(2s);
  pass(3s);  // it has learned that a request takes two seconds
  for (int i = 0; i < 4; ++i) visit(2s);
  const Visit& late = visit(2s);
  pass(0s);
  EXPECT_TRUE(late.refused);
  EXPECT_EQ(gate->waiting(), 3U);
}

TEST_F(OriginGateTest, nobody_waits_longer_than_slot_wait) {
  make({.origin = "o", .max_concurrent = 1, .slot_wait = 5s});
  visitors.spawn("other", occupy_shared());
  const Visit& first = visit(1s);
  const Visit& second = visit(1s);
  pass(1min);
  EXPECT_TRUE(first.refused && second.refused);
  EXPECT_EQ(first.at - Instant{}, 5s);
  EXPECT_EQ(second.at - Instant{}, 5s);
}

TEST_F(OriginGateTest, a_visitor_who_hangs_up_holds_nobody_up) {
  make({.origin = "o", .max_concurrent = 1, .slot_wait = 1min});
  visit(1s);
  TaskScope impatient(context.get_executor());
  Visit gone;
  impatient.spawn("impatient", come_and_go(gone, 1h, true));
  pass(100ms);
  const Visit& last = visit(1s);
  pass(100ms);
  impatient.cancel();
  pass(3s);
  EXPECT_FALSE(gone.entered);
  EXPECT_TRUE(last.entered);
}

TEST_F(OriginGateTest, failures_shrink_the_limit_to_one_and_successes_grow_it_back) {
  make({.origin = "o", .max_concurrent = 3});
  EXPECT_EQ(gate->limit(), 3);
  for (const int64_t expected : {2, 1, 1}) {
    visit(1ms, false);
    pass(1s);
    EXPECT_EQ(gate->limit(), expected);
  }
  for (int i = 0; i < 3; ++i) visit(1s);
  pass(500ms);
  EXPECT_EQ(order.size(), 4U) << "one at a time now";
  pass(10s);
  EXPECT_EQ(gate->limit(), 2);
  for (int i = 0; i < 3; ++i) visit(1ms);
  pass(10s);
  EXPECT_EQ(gate->limit(), 3);
}

TEST_F(OriginGateTest, no_more_than_max_per_second_begin_within_any_second) {
  make({.origin = "o", .max_concurrent = 3, .slot_wait = 1min}, 2);
  for (int i = 0; i < 10; ++i) visit(1ms);
  pass(1min);
  ASSERT_EQ(order.size(), 10U);
  for (size_t i = 2; i < order.size(); ++i) EXPECT_GE(order[i]->at - order[i - 2]->at, 1s);
}

TEST_F(OriginGateTest, who_gets_no_permit_in_time_is_told_at_once_and_keeps_no_slot) {
  make({.origin = "o", .max_concurrent = 3, .slot_wait = 800ms}, 1);
  visit(1ms);
  const Visit& second = visit(1ms);
  pass(1ms);
  EXPECT_TRUE(second.refused);
  pass(100ms);
  EXPECT_EQ(slots.taken(), 0);
}

TEST_F(OriginGateTest, a_permit_that_came_too_late_is_not_used) {
  make({.origin = "o", .max_concurrent = 3, .slot_wait = 1min});
  limit->takes = 150ms;
  const Visit& one = visit(1ms);
  pass(1s);
  EXPECT_FALSE(one.entered);
  limit->takes = 5ms;
  pass(1s);
  EXPECT_TRUE(one.entered);
}

TEST_F(OriginGateTest, where_every_permit_comes_too_late_the_wait_ends_all_the_same) {
  make({.origin = "o", .max_concurrent = 3, .slot_wait = 5s});
  limit->takes = 150ms;
  const Visit& one = visit(1ms);
  pass(1min);
  EXPECT_TRUE(one.refused);
  EXPECT_LE(one.at - Instant{}, 5s + 150ms);
  EXPECT_EQ(slots.taken(), 0);
}

TEST_F(OriginGateTest, waiting_for_the_rate_does_not_use_up_the_slots_lease) {
  make({.origin = "o", .max_concurrent = 3, .slot_wait = 10s, .slot_ttl = 15s}, 1);
  for (int i = 0; i < 5; ++i) visit(1ms);
  pass(1min);
  for (const Visit& one : visits) EXPECT_EQ(one.slot_left, 15s);
}

}  // namespace
}  // namespace sluice::documents
