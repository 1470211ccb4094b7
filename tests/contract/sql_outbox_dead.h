// Dead rows of an outbox in a database, for the contract suite.
#pragma once

#include "adapters/sql/messaging/outbox.h"
#include "adapters/sql/messaging/sql_outbox_dead.h"
#include "tests/contract/outbox_dead_suite.h"
#include "tests/contract/sql_ports.h"

namespace sluice::test {

class SqlTestedOutboxDead : public TestedOutboxDead {
 public:
  explicit SqlTestedOutboxDead(sql::Database& database) : database_(database), dead_(database) {}

  messaging::OutboxDead& dead() override { return dead_; }
  Task<int64_t> bury(messaging::OutboxMessage message) override {
    return database_.transact(bury_body, outbox_, message);
  }

 private:
  static sql::TxTask<int64_t> bury_body(sql::Tx& tx, sql::Outbox outbox, messaging::OutboxMessage message) {
    static constexpr sql::Statement move = R"(
        INSERT INTO outbox_dead (id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version,
          event_type, payload, headers, created_at, retry_count, last_error, failed_at)
        SELECT id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, event_type, payload,
          headers, created_at, 3, 'too large', now()
        FROM outbox_events WHERE aggregate_id = $1
        RETURNING id)";
    const std::string aggregate = message.aggregate_id;
    co_await outbox.append(tx, std::move(message));
    const sql::Rows moved = co_await tx.execute(move, sql::Params(aggregate));
    co_await tx.execute("DELETE FROM outbox_events WHERE aggregate_id = $1", sql::Params(aggregate));
    co_return moved.one().integer(0);
  }

  sql::Database& database_;
  messaging::Bell bell_;
  sql::Outbox outbox_{bell_};
  sql::SqlOutboxDead dead_;
};

inline std::vector<PortEngine<TestedOutboxDead>> outbox_dead_in_sql(const std::vector<DatabaseEngine>& databases) {
  return in_sql<TestedOutboxDead, SqlTestedOutboxDead>(databases);
}

}  // namespace sluice::test
