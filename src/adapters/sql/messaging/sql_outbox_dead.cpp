#include "adapters/sql/messaging/sql_outbox_dead.h"

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/messaging/outbox_headers.h"

namespace sluice::sql {
namespace {

using messaging::DeadRow;

constexpr Statement count_dead = "SELECT count(*) FROM outbox_dead";
constexpr SqlPart dead_columns{"dead_columns",
                               "id, message_id, topic, aggregate_type, aggregate_id, aggregate_version, event_type, "
                               "payload, headers, retry_count, last_error, created_at, failed_at"};
constexpr Statement list_dead =
    sql_with<"SELECT @dead_columns FROM outbox_dead WHERE id > $1 ORDER BY id LIMIT $2", dead_columns>;
constexpr Statement put_back = R"(
    INSERT INTO outbox_events (id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version,
      event_type, payload, headers, created_at, last_error)
    SELECT id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, event_type, payload,
      headers, created_at, last_error
    FROM outbox_dead WHERE id = $1)"_sql;
constexpr Statement lock_dead = "SELECT bucket FROM outbox_dead WHERE id = $1 @lock(FOR UPDATE)"_sql;
constexpr Statement remove_dead = "DELETE FROM outbox_dead WHERE id = $1";
// The bucket's holder has read past the waiting rows; a new fence makes it start over.
constexpr Statement raise_fence = "UPDATE outbox_buckets SET fence = fence + 1 WHERE bucket = $1";

TxTask<bool> settle_body(Tx& tx, int64_t id, bool replay) {
  const Rows found = co_await tx.execute(lock_dead, Params(id));
  if (found.empty()) co_return false;
  co_await tx.execute(raise_fence, Params(found.one().integer(0)));
  if (replay) co_await tx.execute(put_back, Params(id));
  co_await tx.execute(remove_dead, Params(id));
  co_return true;
}

DeadRow to_dead(const Row& row) {
  return {.id = row.integer(dead_columns["id"]),
          .message = {.topic = row.text(dead_columns["topic"]),
                      .aggregate_type = row.text(dead_columns["aggregate_type"]),
                      .aggregate_id = row.text(dead_columns["aggregate_id"]),
                      .aggregate_version = row.integer(dead_columns["aggregate_version"]),
                      .event_type = row.text(dead_columns["event_type"]),
                      .payload = std::string(as_text(row.bytes(dead_columns["payload"]))),
                      .headers = headers_from_json(row.text(dead_columns["headers"])).value_or(messaging::Headers{}),
                      .id = row.id<messaging::MessageTag>(dead_columns["message_id"])},
          .tries = row.integer(dead_columns["retry_count"]),
          .reason = row.optional_text(dead_columns["last_error"]).value_or(""),
          .created_at = row.time(dead_columns["created_at"]),
          .failed_at = row.time(dead_columns["failed_at"])};
}

}  // namespace

Task<size_t> SqlOutboxDead::count() {
  const Rows rows = co_await database_.read(count_dead);
  co_return static_cast<size_t>(rows.one().integer(0));
}

Task<std::vector<DeadRow>> SqlOutboxDead::list(int64_t after, size_t most) {
  Params params(after, most);
  const Rows rows = co_await database_.read(list_dead, std::move(params));
  std::vector<DeadRow> dead;
  for (const Row& row : rows) dead.push_back(to_dead(row));
  co_return dead;
}

Task<bool> SqlOutboxDead::replay(int64_t id) {
  return database_.transact(settle_body, id, true);
}

Task<bool> SqlOutboxDead::discard(int64_t id) {
  return database_.transact(settle_body, id, false);
}

}  // namespace sluice::sql
