#include "adapters/sql/messaging/outbox.h"

#include <stdexcept>

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/messaging/log_block.h"
#include "adapters/sql/messaging/outbox_headers.h"

namespace sluice::sql {
namespace {

using messaging::OutboxMessage;

// Services have no rights on the table, only on the function, which also finds the bucket.
constexpr Statement append_row = R"(
    @postgres(SELECT common.append_outbox($1, $2, $3, $4, $5, $6, $7, $8))
    @sqlite(
      INSERT INTO outbox_events (message_id, topic, aggregate_type, aggregate_id, aggregate_version, event_type,
        payload, headers, bucket, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())))"_sql;

// Any spread will do as long as an aggregate stays in its bucket.
int32_t bucket_of(const OutboxMessage& message) {
  return messaging::partition_of(message.aggregate_type + '/' + message.aggregate_id, 64);
}

// A message that relays could not publish fails the change now, instead of blocking its aggregate later.
void check_sendable(const OutboxMessage& message) {
  if (message.topic.empty() || message.aggregate_type.empty() || message.aggregate_id.empty()) {
    throw std::invalid_argument("an outbox message must have a topic and an aggregate");
  }
  if (bytes_of(to_message(message)) > messaging::max_message_bytes) {
    throw std::invalid_argument("a message is too large");
  }
}

TxTask<> append_as_row(Tx& tx, OutboxMessage message) {
  check_sendable(message);
  Params params(message.id, message.topic, message.aggregate_type, message.aggregate_id, message.aggregate_version,
                message.event_type, Bytes(message.payload.begin(), message.payload.end()),
                to_json(row_headers(message)));
  if (tx.dialect() == Dialect::sqlite) params.add(bucket_of(message));
  co_await tx.execute(append_row, std::move(params));
}

constexpr Statement find_topic = "SELECT id, partitions FROM log_topics WHERE name = $1";

TxTask<> append_to_log(Tx& tx, OutboxMessage given) {
  const messaging::Message message = to_message(std::move(given));
  const Rows topic = co_await tx.execute(find_topic, Params(message.topic));
  if (topic.empty()) throw std::invalid_argument("unknown topic " + message.topic);
  if (bytes_of(message) > messaging::max_message_bytes) throw std::invalid_argument("a message is too large");
  const int32_t partition = messaging::partition_of(message.key, static_cast<int32_t>(topic.one().integer(1)));
  const std::string record = log_record(message);
  const Rows id = co_await tx.execute(next_log_block);
  Params block(id.one().integer(0), topic.one().integer(0), partition, 1, Bytes(record.begin(), record.end()));
  co_await tx.execute(insert_log_block, std::move(block));
}

}  // namespace

TxTask<> Outbox::append(Tx& tx, OutboxMessage message) const {
  return into_ == Into::rows ? append_as_row(tx, std::move(message)) : append_to_log(tx, std::move(message));
}

}  // namespace sluice::sql
