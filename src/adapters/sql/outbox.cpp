#include "adapters/sql/outbox.h"

#include "adapters/sql/outbox_headers.h"

namespace sluice::sql {
namespace {

using messaging::OutboxMessage;

// Services may not touch the table, only call the function; it finds the bucket too.
constexpr Statement append_row{Statement::PerDialect{
    .postgres = "SELECT common.append_outbox($1, $2, $3, $4, $5, $6, $7, $8)",
    .sqlite = "INSERT INTO outbox_events (message_id, topic, aggregate_type, aggregate_id, aggregate_version, "
              "  event_type, payload, headers, bucket, created_at) "
              "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())"}};

// Any spread will do as long as an aggregate stays in its bucket.
int32_t bucket_of(const OutboxMessage& message) {
  return messaging::partition_of(message.aggregate_type + '/' + message.aggregate_id, 64);
}

}  // namespace

TxTask<> Outbox::append(Tx& tx, OutboxMessage message) const {
  Params params(message.id, message.topic, message.aggregate_type, message.aggregate_id, message.aggregate_version,
                message.event_type, Bytes(message.payload.begin(), message.payload.end()), to_json(message.headers));
  if (tx.dialect() == Dialect::sqlite) params.add(bucket_of(message));
  co_await tx.execute(append_row, std::move(params));
}

}  // namespace sluice::sql
