#include "messaging/outbox_cursors.h"

#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

struct OutboxCursorsTest : testing::Test {
  OutboxCursorsTest() { cursors.adopt({{0, 1}, {1, 1}}); }

  // Reads rows with these ids from bucket 0 while these transactions are known to be open.
  bool read(const std::vector<int64_t>& ids, std::vector<int64_t> open = {}, size_t most = 100) {
    if (!open.empty()) reader = std::max(reader, open.back() + 1);
    OutboxBatch batch{.cut = ids.size() >= most, .reader = reader, .open_writers = std::move(open)};
    for (const int64_t id : ids) batch.rows.push_back({{id, {0, 1}}, fmt::format("aggregate {}", id), {}});
    return cursors.advance(cursors.plan(), batch, {most, most}, now);
  }
  int64_t after(int32_t bucket = 0) const {
    for (const BucketScan& scan : cursors.plan()) {
      if (scan.held.bucket == bucket) return scan.after;
    }
    return -1;
  }

  OutboxCursors cursors;
  int64_t reader = 0;  // the number of the next read
  Instant now{1h};
};

TEST_F(OutboxCursorsTest, a_scan_moves_on_when_nothing_can_appear_behind_it) {
  EXPECT_TRUE(read({5, 9}, {70, 71}));
  EXPECT_EQ(after(), 0);
  EXPECT_TRUE(read({7}, {71, 80}));
  EXPECT_EQ(after(), 0) << "71 may still commit a row with a lower id";
  EXPECT_TRUE(read({12}, {80}));
  EXPECT_EQ(after(), 9);
  EXPECT_EQ(after(1), 0);
}

TEST_F(OutboxCursorsTest, a_transaction_that_the_read_itself_did_not_list_is_waited_for) {
  reader = 72;
  read({9});
  read({}, {71});
  EXPECT_EQ(after(), 0) << "71 has a lower number than the reader of 9";
  read({}, {73});
  EXPECT_EQ(after(), 9) << "73 began later";
}

TEST_F(OutboxCursorsTest, a_transaction_that_stays_open_is_not_waited_for_but_its_end_begins_all_again) {
  read({5}, {70});
  now += 2s;
  EXPECT_TRUE(read({6}, {70}));
  EXPECT_EQ(after(), 5);
  EXPECT_TRUE(read({8}, {70, 75}));
  EXPECT_FALSE(read({9}, {75})) << "70 may have brought a row before 5, of the aggregate of 9";
  EXPECT_EQ(after(), 0);
  EXPECT_TRUE(read({3, 9}, {75}));
}

TEST_F(OutboxCursorsTest, a_transaction_that_is_not_waited_for_holds_no_later_step_back) {
  read({5}, {70});
  now += 2s;
  read({6}, {70});
  EXPECT_EQ(after(), 5);
  read({8}, {70, 75});
  EXPECT_EQ(after(), 6) << "at once";
  read({9}, {70, 75});
  EXPECT_EQ(after(), 6) << "75 is new and waited for";
  read({}, {70});
  EXPECT_EQ(after(), 8);
  EXPECT_FALSE(read({}, {}));
  EXPECT_EQ(after(), 0);
}

TEST_F(OutboxCursorsTest, a_batch_that_was_cut_moves_only_what_was_read) {
  read({5, 9}, {}, 2);
  EXPECT_TRUE(read({6}, {}, 1));
  EXPECT_EQ(after(), 0) << "7 and 8 may be there and were not read";
  read({});
  EXPECT_EQ(after(), 9);
}

TEST_F(OutboxCursorsTest, the_next_batch_begins_behind_the_bucket_where_the_last_was_cut) {
  EXPECT_EQ(cursors.plan()[0].held.bucket, 0);
  read({5}, {}, 1);
  EXPECT_EQ(cursors.plan()[0].held.bucket, 1);
}

TEST_F(OutboxCursorsTest, buckets_in_work_are_left_out) {
  const std::vector<BucketScan> scans = cursors.plan({0});
  ASSERT_EQ(scans.size(), 1U);
  EXPECT_EQ(scans[0].held.bucket, 1);
}

TEST_F(OutboxCursorsTest, a_new_fence_begins_again) {
  read({5});
  read({});
  EXPECT_EQ(after(), 5);
  EXPECT_FALSE(cursors.adopt({{0, 1}, {1, 1}}));
  EXPECT_EQ(after(), 5);
  EXPECT_TRUE(cursors.adopt({{0, 2}}));
  EXPECT_EQ(after(), 0);
  EXPECT_EQ(after(1), -1) << "not held any more";
}

TEST_F(OutboxCursorsTest, an_aggregate_is_held_off_for_its_time_and_then_its_bucket_is_read_from_the_start) {
  read({5});
  read({});
  const OutboxRow row{{5, {0, 1}}, "aggregate 5", {}};
  cursors.hold_off(row, now + 1s);
  EXPECT_EQ(cursors.next_release(), now + 1s);
  cursors.release(now);
  EXPECT_EQ(cursors.held_off(), std::vector<std::string>{"aggregate 5"});
  EXPECT_EQ(after(), 5);
  cursors.release(now + 1s);
  EXPECT_TRUE(cursors.held_off().empty());
  EXPECT_EQ(after(), 0);
}

}  // namespace
}  // namespace sluice::messaging
