#include "messaging/testing/outbox_relay_fixture.h"

namespace sluice::messaging {
namespace {

TEST_F(OutboxRelayTest, publishes_every_row_once_in_order) {
  append(20, 50);
  start("a");
  run_for(2s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  EXPECT_EQ(log.stored.size(), 20U);
  for (const auto& [key, versions] : log.stored) EXPECT_EQ(versions, up_to(50)) << key;
  EXPECT_LE(log.calls, 20);
}

TEST_F(OutboxRelayTest, a_bell_wakes_it_at_once_and_otherwise_it_polls) {
  start("a");
  run_for(1500ms);
  store.append("x");
  bell.ring();
  const Instant rung = clock.now();
  run_for(10ms);
  EXPECT_EQ(log.stored["x"], up_to(1));
  EXPECT_EQ(log.last_at, rung + 1ms);
  store.append("x");
  run_for(1100ms);
  EXPECT_EQ(log.stored["x"], up_to(2));
}

TEST_F(OutboxRelayTest, an_idle_relay_reads_once_a_second) {
  start("a");
  run_for(10s);
  store.reads = 0;
  run_for(1min);
  EXPECT_LE(store.reads, 61);
}

TEST_F(OutboxRelayTest, a_log_that_is_away_is_waited_for_and_costs_no_try) {
  log.down = true;
  append(5, 30);
  start("a");
  run_for(10min);
  EXPECT_TRUE(store.tried.empty());
  EXPECT_LE(log.calls, 600);
  log.down = false;
  run_for(10s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  expect_all_in_order(5, 30);
}

TEST_F(OutboxRelayTest, a_log_that_hangs_is_given_up_after_the_send_timeout_and_tried_again) {
  log.takes = 1h;
  append(1, 3);
  start("a");
  run_for(12s);
  EXPECT_GE(log.calls, 2);
  EXPECT_TRUE(store.tried.empty());
  log.takes = 1ms;
  run_for(20s);
  expect_all_in_order(1, 3);
}

TEST_F(OutboxRelayTest, a_database_that_is_away_is_waited_for) {
  start("a");
  run_for(5s);
  store.down = true;
  append(3, 3);
  run_for(1min);
  store.down = false;
  run_for(10s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  expect_all_in_order(3, 3);
}

TEST_F(OutboxRelayTest, a_refused_row_is_tried_three_times_and_holds_only_its_aggregate) {
  log.poison.insert("aggregate 0");
  append(3, 5);
  start("a");
  run_for(500ms);
  EXPECT_EQ(store.tried.size(), 1U);
  EXPECT_EQ(log.stored["aggregate 1"], up_to(5));
  EXPECT_EQ(log.stored["aggregate 2"], up_to(5));
  run_for(5s);
  ASSERT_EQ(store.tried.size(), 3U);
  EXPECT_GE(store.tried[1] - store.tried[0], 1s);
  EXPECT_TRUE(store.rows[0].dead);
  log.poison.clear();
  run_for(1min);
  EXPECT_FALSE(log.stored.contains("aggregate 0")) << "its aggregate waits for an operator";
}

TEST_F(OutboxRelayTest, a_row_that_is_taken_at_the_second_try_goes_before_its_aggregates_later_ones) {
  log.poison.insert("aggregate 0");
  append(1, 3);
  start("a");
  run_for(500ms);
  log.poison.clear();
  append(1, 1);
  bell.ring();
  run_for(100ms);
  EXPECT_TRUE(log.stored.empty()) << "later rows wait with the first";
  run_for(2s);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(4));
}

TEST_F(OutboxRelayTest, an_unreadable_row_is_refused_for_its_own_fault) {
  append(2, 1);
  store.append("aggregate 0").unreadable = "no JSON";
  append(2, 3);
  start("a");
  run_for(500ms);
  EXPECT_EQ(store.tried.size(), 1U);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(1));
  EXPECT_EQ(log.stored["aggregate 1"], up_to(4));
  run_for(5s);
  EXPECT_EQ(store.tried.size(), 3U);
  EXPECT_TRUE(store.rows[2].dead);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(1)) << "its aggregate waits for an operator";
}

TEST_F(OutboxRelayTest, a_row_of_another_topic_does_not_overtake_a_refused_one) {
  log.poison.insert("unknown");
  store.append("x");
  store.append("x").topic = "unknown";
  store.append("x");
  start("a");
  run_for(500ms);
  EXPECT_EQ(log.stored["x"], up_to(1));
  log.poison.clear();
  run_for(2s);
  EXPECT_EQ(log.stored["x"], up_to(3));
}

TEST_F(OutboxRelayTest, many_large_rows_go_in_pieces_that_the_log_has_room_for) {
  for (int i = 0; i < 40; ++i) store.append("x").padding = size_t{4} << 20;
  start("a");
  run_for(2s);
  EXPECT_EQ(log.stored["x"], up_to(40));
}

TEST_F(OutboxRelayTest, an_overloaded_log_gets_smaller_pieces) {
  log.room = 100 << 10;
  for (int i = 0; i < 90; ++i) store.append(fmt::format("aggregate {}", i % 3)).padding = 20 << 10;
  start("a");
  run_for(1min);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  expect_all_in_order(3, 30);
}

TEST_F(OutboxRelayTest, hundreds_of_waiting_rows_do_not_starve_their_bucket) {
  log.poison.insert("aggregate 0");
  append(1, 350);
  start("a");
  run_for(100ms);
  const int32_t bucket = store.rows[0].bucket();
  std::string neighbour;
  for (int i = 0; neighbour.empty(); ++i) {
    const std::string name = fmt::format("neighbour {}", i);
    if (partition_of(name, outbox_buckets) == bucket) neighbour = name;
  }
  store.append(neighbour);
  run_for(5s);
  EXPECT_EQ(log.stored[neighbour], up_to(1));
  EXPECT_LE(store.reads, 40);
}

TEST_F(OutboxRelayTest, a_database_that_is_away_is_waited_for_also_while_a_refused_row_waits) {
  log.poison.insert("aggregate 0");
  append(1, 1);
  start("a");
  run_for(100ms);
  ASSERT_EQ(store.tried.size(), 1U);
  store.down = true;
  run_for(1min);  // a loop that does not wait would never come to its end
  log.poison.clear();
  store.down = false;
  run_for(20s);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(1));
}

TEST_F(OutboxRelayTest, a_dead_row_that_is_replayed_goes_before_its_aggregates_later_ones) {
  log.poison.insert("aggregate 0");
  append(2, 3);
  start("a");
  run_for(10s);
  ASSERT_TRUE(store.rows[0].dead);
  log.poison.clear();
  append(2, 2);
  run_for(5s);
  EXPECT_FALSE(log.stored.contains("aggregate 0"));
  store.replay(store.rows[0].id);
  run_for(15s);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(5));
  EXPECT_EQ(log.stored["aggregate 1"], up_to(5));
}

TEST_F(OutboxRelayTest, relays_share_the_buckets_and_publish_in_order_together) {
  for (const char* owner : {"a", "b", "c"}) start(owner);
  for (int i = 0; i < 20; ++i) {
    append(40, 5);
    run_for(700ms);
  }
  run_for(5s);
  EXPECT_EQ(store.held_by("a"), 22U);
  EXPECT_EQ(store.held_by("b"), 21U);
  EXPECT_EQ(store.held_by("c"), 21U);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  expect_all_in_order(40, 100);
}

TEST_F(OutboxRelayTest, a_stopping_relay_finishes_its_batch_and_gives_its_buckets_back) {
  log.takes = 2s;
  append(1, 1);
  OutboxRelay& relay = start("a");
  run_for(1s);
  stop(relay);
  run_for(10ms);
  EXPECT_EQ(store.held_by("a"), static_cast<size_t>(outbox_buckets));
  run_for(2s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  EXPECT_EQ(store.held_by("a"), 0U);
  relays[0].reset();
  relays.erase(relays.begin());
}

TEST_F(OutboxRelayTest, a_log_that_lost_its_memory_gets_everything_again_before_anything_new) {
  append(3, 4);
  start("a");
  run_for(2s);
  log.stored.clear();
  log.life = "second";
  append(3, 2);
  run_for(5s);
  EXPECT_EQ(log.stored.size(), 3U);
  for (const auto& [key, versions] : log.stored) EXPECT_EQ(versions, up_to(6)) << key;
}

TEST_F(OutboxRelayTest, a_loss_whose_working_off_is_interrupted_goes_on_and_order_holds) {
  append(3, 4);
  start("a");
  start("b");
  run_for(2s);
  log.stored.clear();
  log.life = "second";
  store.loss_step_takes = 500ms;
  run_for(1500ms);
  append(3, 2);
  store.down = true;
  run_for(2s);
  EXPECT_TRUE(log.stored.empty()) << "what was written since waits too";
  store.down = false;
  run_for(20s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  EXPECT_EQ(log.stored.size(), 3U);
  for (const auto& [key, versions] : log.stored) EXPECT_EQ(versions, up_to(6)) << key;
}

TEST_F(OutboxRelayTest, a_batch_of_large_messages_is_cut_by_bytes) {
  for (int i = 0; i < 12; ++i) store.append("large").padding = 3 << 20;
  start("a");
  run_for(5s);
  EXPECT_EQ(log.stored["large"], up_to(12));
  EXPECT_GE(store.largest_batch, BatchLimits{}.bytes);
  EXPECT_LT(store.largest_batch, BatchLimits{}.bytes + (4 << 20));
}

TEST_F(OutboxRelayTest, a_topic_that_was_lost_is_published_again_and_no_other) {
  store.append("x");
  store.append("y").topic = "other";
  start("a");
  run_for(2s);
  log.lives["other"] = "second";
  run_for(5s);
  EXPECT_EQ(log.stored["x"], up_to(1));
  EXPECT_EQ(log.stored["y"], (std::vector<int64_t>{1, 1}));
}

TEST_F(OutboxRelayTest, a_restarted_log_may_have_fallen_back_by_the_configured_margin) {
  EXPECT_EQ(config.rerun_margin, 1h);
  config.rerun_margin = 3h;
  append(1, 1);
  start("a");
  run_for(2s);
  EXPECT_EQ(store.margins, std::set<Duration>{3h});
}

TEST_F(OutboxRelayTest, every_bucket_is_measured_by_its_holder) {
  for (const char* owner : {"a", "b", "c"}) start(owner);
  run_for(20s);
  store.measured.clear();
  run_for(1min);
  EXPECT_EQ(store.measured.size(), static_cast<size_t>(outbox_buckets));
  for (const auto& [bucket, times] : store.measured) {
    EXPECT_GE(times, 29) << bucket;
    EXPECT_LE(times, 31) << bucket;
  }
}

TEST_F(OutboxRelayTest, old_rows_are_swept_by_who_has_the_first_bucket) {
  start("a");
  run_for(150s);
  EXPECT_EQ(store.sweeps, 2);
}

}  // namespace
}  // namespace sluice::messaging
