// Plans of the outbox: appending, reading, marking, cleaning up and dead rows (tests/contract/postgres_plans.h).
#include "adapters/sql/messaging/outbox.h"
#include "adapters/sql/messaging/sql_outbox_dead.h"
#include "adapters/sql/messaging/sql_outbox_store.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

using messaging::HeldBucket;
using messaging::OutboxMark;
using messaging::OutboxRow;

class PostgresOutboxPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    service_ = login("job_service");
    database_ = login("common");
    store_.emplace(*database_);
    dead_.emplace(*database_);
  }

  // Published rows that are kept, rows that wait behind dead ones, and rows that the log refused.
  void fill_tables() override {
    for (const char* text : {
             "INSERT INTO outbox_events (bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, "
             "  event_type, payload, headers, created_at, published, published_at) "
             "SELECT i % 64, gen_random_uuid(), 'topic', 'filling', i, 1, 'event', '{}', '{}', now(), true, "
             "  now() - interval '1 day' "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO outbox_events (bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, "
             "  event_type, payload, headers, created_at) "
             "SELECT i % 64, gen_random_uuid(), 'topic', 'dead', i, 2, 'event', '{}', '{}', now() "
             "FROM generate_series(1, 10000) AS i",
             "INSERT INTO outbox_dead (id, bucket, message_id, topic, aggregate_type, aggregate_id, "
             "  aggregate_version, event_type, payload, headers, created_at, retry_count, failed_at) "
             "SELECT -i, i % 64, gen_random_uuid(), 'topic', 'dead', i, 1, 'event', '{}', '{}', now(), 3, now() "
             "FROM generate_series(1, 10000) AS i",
         }) {
      execute(*database_, text);
    }
  }

  static sql::TxTask<> append_body(sql::Tx& tx, sql::Outbox outbox, std::vector<messaging::OutboxMessage> messages) {
    for (messaging::OutboxMessage& message : messages) co_await outbox.append(tx, std::move(message));
  }
  void append(size_t count) {
    std::vector<messaging::OutboxMessage> messages;
    for (size_t i = 0; i < count; ++i) {
      messages.push_back({.topic = "topic",
                          .aggregate_type = "type",
                          .aggregate_id = unique("aggregate"),
                          .aggregate_version = 1,
                          .event_type = "event",
                          .payload = "{}",
                          .id = messaging::MessageId::make(clock_.wall(), random_)});
    }
    run(service_->transact(append_body, outbox_, std::move(messages)));
  }

  std::vector<OutboxRow> read(const std::vector<HeldBucket>& held) {
    return run(store_->unpublished(scans(held), {.rows = 1'000, .of_bucket = 1'000}, {"type/none"})).rows;
  }
  static std::vector<messaging::BucketScan> scans(const std::vector<HeldBucket>& held) {
    std::vector<messaging::BucketScan> all;
    for (const HeldBucket& one : held) all.push_back({one, 0});
    return all;
  }

  void use_stores(size_t messages_at_once) override {
    append(messages_at_once);
    run(store_->remember("topic", {"life", run_}, 1ms));
    const std::vector<HeldBucket> held = run(store_->hold("relay", 1min));
    const std::vector<HeldBucket> one_bucket(held.begin(), held.begin() + 1);
    read(one_bucket);
    const std::vector<OutboxRow> rows = read(held);
    EXPECT_EQ(rows.size(), messages_at_once);
    run(store_->lag(scans(held)));
    run(store_->lag(scans(one_bucket)));
    bury(rows.back());
    mark(rows);
    clean_up();
    run(store_->topics());
    run(store_->release("relay"));
  }

  void mark(const std::vector<OutboxRow>& rows) {
    std::vector<OutboxMark> marks;
    for (const OutboxRow& row : rows) marks.push_back(row.mark);
    run(store_->mark_published({marks.front()}));
    run(store_->mark_published(marks));
  }

  void bury(const OutboxRow& row) {
    EXPECT_EQ(run(store_->refuse(row.mark, "too large", 1)), messaging::Refusal::dead);
    run(dead_->count());
    run(dead_->list(0, 100));
    EXPECT_TRUE(run(dead_->replay(row.mark.id)));
    const std::vector<OutboxRow> again = read(run(store_->hold("relay", 1min)));
    run(store_->refuse(again.back().mark, "too large", 1));
    EXPECT_TRUE(run(dead_->discard(again.back().mark.id)));
  }

  // The log has lost its messages, and then published rows are old.
  void clean_up() {
    run_ = unique("run");
    run(store_->remember("topic", {"life", run_}, 1ms));
    mark(read(run(store_->hold("relay", 1min))));
    for (std::optional<int64_t> next = 0; next;) next = run(store_->sweep(*next, 1'000, 1h));
  }

  // Counts all dead rows, for an operator.
  std::set<std::string> exempt_statements() const override { return {"SELECT count(*) FROM outbox_dead"}; }

  std::string run_ = "run";
  messaging::Bell bell_;
  sql::Outbox outbox_{bell_};
  std::unique_ptr<postgres::PostgresDatabase> service_;
  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlOutboxStore> store_;
  std::optional<sql::SqlOutboxDead> dead_;
};

TEST_F(PostgresOutboxPlans, no_statement_on_the_outbox_reads_a_whole_table_that_grows) {
  expect_only_lookups(20);
}

}  // namespace
}  // namespace sluice::test
