// Contract of every messaging::OutboxDead, tested on a real engine.
#include "tests/contract/outbox_dead_suite.h"

namespace sluice::test {

TEST_P(OutboxDeadContract, rows_are_listed_as_they_were_refused) {
  const messaging::OutboxMessage message = this->message();
  const int64_t id = run(port().bury(message));
  const std::vector<DeadRow> rows = list(id - 1, 10);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].id, id);
  EXPECT_EQ(rows[0].tries, 3);
  EXPECT_EQ(rows[0].reason, "too large");
  EXPECT_LE(rows[0].created_at, rows[0].failed_at);
  EXPECT_EQ(rows[0].message.topic, message.topic);
  EXPECT_EQ(rows[0].message.aggregate_type, message.aggregate_type);
  EXPECT_EQ(rows[0].message.aggregate_id, message.aggregate_id);
  EXPECT_EQ(rows[0].message.aggregate_version, message.aggregate_version);
  EXPECT_EQ(rows[0].message.event_type, message.event_type);
  EXPECT_EQ(rows[0].message.payload, message.payload);
  EXPECT_EQ(rows[0].message.headers, message.headers);
  EXPECT_EQ(rows[0].message.id, message.id);
}

TEST_P(OutboxDeadContract, pages_go_by_id_behind_the_last_one_seen) {
  std::vector<int64_t> buried;
  for (int i = 0; i < 3; ++i) buried.push_back(bury());
  EXPECT_TRUE(std::ranges::is_sorted(buried));
  EXPECT_EQ(ids(buried[0] - 1, 2), (std::vector<int64_t>{buried[0], buried[1]}));
  EXPECT_EQ(ids(buried[1], 2), std::vector<int64_t>{buried[2]});
  EXPECT_TRUE(ids(buried[2], 2).empty());
}

TEST_P(OutboxDeadContract, a_settled_row_is_gone_and_is_settled_once) {
  const size_t before = count();
  const int64_t replayed = bury();
  const int64_t discarded = bury();
  EXPECT_EQ(count(), before + 2);
  EXPECT_TRUE(replay(replayed));
  EXPECT_EQ(ids(replayed - 1, 10), std::vector<int64_t>{discarded});
  EXPECT_TRUE(discard(discarded));
  EXPECT_TRUE(ids(replayed - 1, 10).empty());
  EXPECT_EQ(count(), before);
  for (const int64_t id : {replayed, discarded}) {
    EXPECT_FALSE(replay(id));
    EXPECT_FALSE(discard(id));
  }
}

TEST_P(OutboxDeadContract, of_many_that_settle_a_row_at_once_one_does) {
  const int64_t id = bury();
  std::vector<Task<bool>> settling;
  for (int i = 0; i < 6; ++i) settling.push_back(i % 2 == 0 ? port().dead().replay(id) : port().dead().discard(id));
  const std::vector<bool> done = values_of(std::move(settling));
  EXPECT_EQ(std::ranges::count(done, true), 1);
}

}  // namespace sluice::test
