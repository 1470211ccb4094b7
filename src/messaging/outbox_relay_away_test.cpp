// A part of the log is away.
#include "messaging/testing/outbox_relay_fixture.h"

namespace sluice::messaging {
namespace {

using OutboxRelayAwayTest = OutboxRelayTest;

TEST_F(OutboxRelayAwayTest, a_partition_that_is_away_keeps_only_its_own_waiting) {
  const int32_t lost = RecordingLog::partition("aggregate 0");
  log.away.insert({"topic", lost});
  append(40, 5);
  start("a");
  run_for(10s);
  for (int round = 1; round <= 50; ++round) {
    append(40, 1);
    run_for(2s);
  }
  int away = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("aggregate {}", i);
    const bool waits = RecordingLog::partition(name) == lost;
    away += waits ? 1 : 0;
    EXPECT_EQ(log.stored[name], waits ? std::vector<int64_t>{} : up_to(55)) << name;
  }
  EXPECT_GT(away, 3);
  EXPECT_LE(log.unanswered, 40 + 60) << "one row is tried every now and then";
  log.away.clear();
  run_for(15s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  expect_all_in_order(40, 55);
  EXPECT_TRUE(store.tried.empty());
}

TEST_F(OutboxRelayAwayTest, nobody_waits_long_for_a_partition_that_is_away) {
  log.away.insert({"topic", RecordingLog::partition("aggregate 0")});
  append(1, 1);
  store.append("aggregate 1").topic = "other";
  start("a");
  run_for(20s);
  Duration longest{0};
  for (int round = 0; round < 60; ++round) {
    store.append("aggregate 0");
    store.append("aggregate 1").topic = "other";
    bell.ring();
    const Instant rung = clock.now();
    run_for(6s);
    longest = std::max<Duration>(longest, std::chrono::floor<Duration>(log.last_at - rung));
  }
  EXPECT_EQ(log.stored["aggregate 1"], up_to(61));
  EXPECT_LE(longest, log.patience + 10ms);
}

TEST_F(OutboxRelayAwayTest, an_aggregate_keeps_its_order_also_where_its_topics_are_not_all_there) {
  log.away.insert({"topic", RecordingLog::partition("x")});
  store.append("x");
  store.append("x").topic = "other";
  store.append("y").topic = "other";
  start("a");
  run_for(8s);
  EXPECT_EQ(log.stored["y"], up_to(1));
  for (int i = 0; i < 20; ++i) {
    store.append("x").topic = "other";
    run_for(1s);
  }
  EXPECT_FALSE(log.stored.contains("x"));
  log.away.clear();
  run_for(12s);
  EXPECT_EQ(log.stored["x"], up_to(22));
}

TEST_F(OutboxRelayAwayTest, more_rows_than_are_read_at_once_wait_for_a_partition_and_starve_nobody) {
  log.away.insert({"topic", RecordingLog::partition("aggregate 0")});
  append(1, 400);
  start("a");
  run_for(20s);
  const int32_t bucket = store.rows[0].bucket();
  std::string neighbour;
  for (int i = 0; neighbour.empty(); ++i) {
    const std::string name = fmt::format("neighbour {}", i);
    const bool same = partition_of(name, outbox_buckets) == bucket;
    if (same && RecordingLog::partition(name) != RecordingLog::partition("aggregate 0")) neighbour = name;
  }
  store.append(neighbour);
  run_for(5s);
  EXPECT_EQ(log.stored[neighbour], up_to(1));
  log.away.clear();
  run_for(20s);
  EXPECT_EQ(log.stored["aggregate 0"], up_to(400));
}

TEST_F(OutboxRelayAwayTest, a_log_that_does_not_tell_what_it_remembers_takes_what_it_can) {
  append(3, 1);
  start("a");
  run_for(5s);
  log.mute = true;
  append(3, 1);
  run_for(5s);
  EXPECT_EQ(store.unpublished_rows(), 0U);
  store.append("x").topic = "never asked about";
  run_for(5s);
  EXPECT_FALSE(log.stored.contains("x"));
  log.mute = false;
  run_for(10s);
  EXPECT_EQ(log.stored["x"], up_to(1));
}

}  // namespace
}  // namespace sluice::messaging
