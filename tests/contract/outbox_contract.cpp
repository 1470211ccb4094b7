// Contract of sql::Outbox, tested on a real engine with the login that owns the outbox.
#include "tests/contract/outbox_suite.h"

namespace sluice::test {

TEST_P(OutboxContract, a_row_says_all_that_was_told) {
  const std::string aggregate = unique("aggregate");
  OutboxMessage told = message(aggregate, 7);
  told.payload = std::string("any \0 bytes \xff", 13);
  told.headers = {{"quoted", "\"\n"}};
  told.traceparent = "00-1-2-01";
  append(told);
  const sql::Rows rows = rows_of(aggregate);
  const sql::Row& row = rows.one();
  EXPECT_EQ(row.id<messaging::MessageTag>(0), told.id);
  EXPECT_EQ(row.text(1), told.topic);
  EXPECT_EQ(row.text(2), told.aggregate_type);
  EXPECT_EQ(row.integer(3), 7);
  EXPECT_EQ(row.text(4), told.event_type);
  EXPECT_EQ(as_text(row.bytes(5)), told.payload);
  const auto headers = sql::headers_from_json(row.text(6));
  EXPECT_EQ(headers, (messaging::Headers{{"quoted", "\"\n"}, {"traceparent", "00-1-2-01"}}));
  EXPECT_FALSE(row.boolean(7));
}

TEST_P(OutboxContract, what_no_log_would_take_undoes_the_change) {
  const std::string aggregate = unique("aggregate");
  OutboxMessage large = message(aggregate);
  large.payload.assign(messaging::max_message_bytes, 'x');
  EXPECT_THROW(append(large), std::invalid_argument);
  OutboxMessage nameless = message(aggregate);
  nameless.topic.clear();
  EXPECT_THROW(append(nameless), std::invalid_argument);
  EXPECT_TRUE(rows_of(aggregate).empty());
}

TEST_P(OutboxContract, a_change_that_is_rolled_back_is_not_told) {
  const std::string aggregate = unique("aggregate");
  EXPECT_THROW(run(database().transact(regretted_body, outbox_, message(aggregate))), std::runtime_error);
  EXPECT_TRUE(rows_of(aggregate).empty());
}

TEST_P(OutboxContract, an_aggregate_stays_in_its_bucket_and_all_buckets_are_used) {
  std::set<int64_t> used;
  const std::string name = unique("aggregate");
  for (int i = 0; i < 600; ++i) {
    const std::string aggregate = fmt::format("{}/{}", name, i);
    append(message(aggregate));
    if (i < 10) append(message(aggregate, 2));
    const sql::Rows rows = rows_of(aggregate);
    for (const sql::Row& row : rows) EXPECT_EQ(row.integer(8), rows[0].integer(8));
    used.insert(rows[0].integer(8));
  }
  EXPECT_EQ(used.size(), 64U);
  EXPECT_EQ(*used.begin(), 0);
  EXPECT_EQ(*used.rbegin(), 63);
}

// Rows of before an update and after it must meet in one bucket.
TEST_P(OutboxContract, the_bucket_is_the_same_in_every_version) {
  append(message("018f4e1c-6d2a-7c3e-9f10-0242ac120002"));
  const sql::Rows rows = rows_of("018f4e1c-6d2a-7c3e-9f10-0242ac120002");
  EXPECT_EQ(rows[0].integer(8), database().dialect() == sql::Dialect::postgres ? 18 : 9);
}

}  // namespace sluice::test
