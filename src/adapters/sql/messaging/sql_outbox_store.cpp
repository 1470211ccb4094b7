#include "adapters/sql/messaging/sql_outbox_store.h"

#include <charconv>
#include <set>

#include "adapters/sql/driver/number_list.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/messaging/outbox_headers.h"
#include "base/json.h"
#include "messaging/outbox_message.h"

namespace sluice::sql {
namespace {

using messaging::BatchLimits;
using messaging::BucketScan;
using messaging::HeldBucket;
using messaging::OutboxBatch;
using messaging::OutboxLag;
using messaging::OutboxMark;
using messaging::OutboxMessage;
using messaging::OutboxRow;
using messaging::Refusal;

// One short index scan per bucket, which stops after a few rows. The fence is read in the same statement, so a relay
// with an old fence sees no rows of a replayed or republished aggregate. Bytes are counted before payloads are fetched,
// so no payload beyond the limit is read.
//
// PostgreSQL's snapshot ("xmin:xmax:open,open,...") comes with every row, and alone if there is no row. It does not
// list transactions at or above its xmax, one past the highest that has ended, although they may be open and have drawn
// ids below those that are seen. So a read that sees rows takes a transaction number of its own, after its snapshot: a
// transaction that drew a lower id took its number earlier (append_outbox), and once the read has ended every snapshot
// lists it. SQLite has one writer at a time.
constexpr Statement find_unpublished = R"(
    @postgres(
      SELECT found.*, pg_current_snapshot()::text,
        CASE WHEN found.id IS NULL THEN 0 ELSE pg_current_xact_id()::text::bigint END
      FROM (VALUES (1)) AS always LEFT JOIN (
        SELECT id, bucket, fence, message_id, topic, aggregate_type, aggregate_id, aggregate_version,
          event_type, payload, headers
        FROM (
          SELECT event.*, scan.fence, sum(event.size) OVER (ROWS UNBOUNDED PRECEDING) - event.size AS ahead
          FROM unnest($1::text::int[], $2::text::bigint[], $3::text::bigint[]) AS scan (bucket, fence, after)
          CROSS JOIN LATERAL (SELECT candidate.*, octet_length(payload) + octet_length(headers) AS size
            FROM outbox_events AS candidate
            WHERE candidate.bucket = (SELECT held.bucket FROM outbox_buckets AS held
                WHERE held.bucket = scan.bucket AND held.fence = scan.fence AND held.expires_at > now()
                  AND NOT EXISTS (SELECT 1 FROM outbox_topics WHERE lost_since IS NOT NULL))
              AND NOT candidate.published AND candidate.id > scan.after
              AND (SELECT true FROM outbox_dead AS dead
                WHERE dead.aggregate_type = candidate.aggregate_type AND dead.aggregate_id = candidate.aggregate_id
                ORDER BY dead.id LIMIT 1) IS NULL
              AND candidate.aggregate_type || '/' || candidate.aggregate_id
                NOT IN (SELECT jsonb_array_elements_text($6::text::jsonb))
            ORDER BY candidate.bucket, candidate.id LIMIT $5) AS event
          LIMIT $4) AS counted
        WHERE ahead < $7::bigint) AS found ON true)
    @sqlite(
      WITH scan AS (
        SELECT bucket.key AS place, bucket.value AS bucket, fence.value AS fence, after.value AS after
        FROM json_each($1) AS bucket JOIN json_each($2) AS fence ON fence.key = bucket.key
        JOIN json_each($3) AS after ON after.key = bucket.key),
      found AS (
        SELECT event.id, scan.place, scan.fence,
          length(event.payload) + length(CAST(event.headers AS BLOB)) AS size
        FROM scan JOIN outbox_buckets AS held ON held.bucket = scan.bucket AND held.fence = scan.fence
          AND held.expires_at > now() AND NOT EXISTS (SELECT 1 FROM outbox_topics WHERE lost_since IS NOT NULL)
        CROSS JOIN outbox_events AS event ON event.id IN (SELECT candidate.id FROM outbox_events AS candidate
          WHERE candidate.bucket = scan.bucket AND NOT candidate.published AND candidate.id > scan.after
            AND NOT EXISTS (SELECT 1 FROM outbox_dead AS dead
              WHERE dead.aggregate_type = candidate.aggregate_type AND dead.aggregate_id = candidate.aggregate_id)
            AND candidate.aggregate_type || '/' || candidate.aggregate_id NOT IN (SELECT value FROM json_each($6))
          ORDER BY candidate.id LIMIT $5)
        ORDER BY scan.place, event.id LIMIT $4),
      counted AS (
        SELECT *, sum(size) OVER (ORDER BY place, id ROWS UNBOUNDED PRECEDING) - size AS ahead FROM found)
      SELECT event.id, event.bucket, counted.fence, event.message_id, event.topic, event.aggregate_type,
        event.aggregate_id, event.aggregate_version, event.event_type, event.payload, event.headers, '::', 0
      FROM counted JOIN outbox_events AS event ON event.id = counted.id
      WHERE counted.ahead < $7
      ORDER BY counted.place, event.id))"_sql;

// The fence cannot grow before the rows are marked, so a mark never covers a row that was unpublished again meanwhile.
// PostgreSQL locks the buckets first, then looks each row up; SQLite has one writer.
constexpr Statement mark_rows = R"(
    @postgres(
      WITH ours AS MATERIALIZED (SELECT held.bucket
        FROM unnest($1::text::int[], $2::text::bigint[]) AS mine (bucket, fence)
        CROSS JOIN LATERAL (SELECT bucket FROM outbox_buckets
          WHERE bucket = mine.bucket AND fence = mine.fence FOR SHARE) AS held))
    UPDATE outbox_events SET published = true, published_at = now(), last_error = NULL
    @postgres(
      FROM unnest($3::text::bigint[]) AS given (id)
      WHERE outbox_events.id = ANY (ARRAY[given.id])
        AND CASE WHEN given.id IS NOT NULL THEN NOT published AND bucket IN (SELECT bucket FROM ours) END)
    @sqlite(
      WHERE id IN (SELECT value FROM json_each($3)) AND NOT published AND bucket IN (
        SELECT held.bucket FROM outbox_buckets AS held JOIN json_each($1) AS bucket ON bucket.value = held.bucket
        JOIN json_each($2) AS fence ON fence.key = bucket.key
        WHERE fence.value = held.fence)))"_sql;

constexpr Statement lock_bucket = "SELECT 1 FROM outbox_buckets WHERE bucket = $1 AND fence = $2 @lock(FOR SHARE)"_sql;
constexpr Statement count_try = R"(
    UPDATE outbox_events SET retry_count = retry_count + 1, last_error = $2
    WHERE id = $1 AND NOT published
    RETURNING retry_count)"_sql;
constexpr Statement bury = R"(
    INSERT INTO outbox_dead (id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version,
      event_type, payload, headers, created_at, retry_count, last_error, failed_at)
    SELECT id, bucket, message_id, topic, aggregate_type, aggregate_id, aggregate_version, event_type, payload,
      headers, created_at, retry_count, last_error, now()
    FROM outbox_events WHERE id = $1)"_sql;
constexpr Statement remove_row = "DELETE FROM outbox_events WHERE id = $1";
// PostgreSQL counts up to $3 of each bucket by the indexes that the relays use.
constexpr Statement measure_lag = R"(
    SELECT count(*), min(created_at),
    @postgres(
      (SELECT count(*) FROM unnest($1::text::int[]) AS scan (bucket)
        CROSS JOIN LATERAL (SELECT id FROM outbox_dead WHERE bucket = scan.bucket ORDER BY id LIMIT $3) AS dead)
      FROM (SELECT event.created_at FROM unnest($1::text::int[], $2::text::bigint[]) AS scan (bucket, after)
        CROSS JOIN LATERAL (SELECT candidate.created_at FROM outbox_events AS candidate
          WHERE candidate.bucket = scan.bucket AND NOT candidate.published AND candidate.id > scan.after
            AND (SELECT true FROM outbox_dead AS dead
              WHERE dead.aggregate_type = candidate.aggregate_type AND dead.aggregate_id = candidate.aggregate_id
              ORDER BY dead.id LIMIT 1) IS NULL
          ORDER BY candidate.bucket, candidate.id LIMIT $3) AS event
        LIMIT $3) AS counted)
    @sqlite(
      (SELECT count(*) FROM outbox_dead WHERE bucket IN (SELECT value FROM json_each($1)))
      FROM (SELECT event.created_at FROM json_each($1) AS bucket
        JOIN json_each($2) AS after ON after.key = bucket.key
        CROSS JOIN outbox_events AS event ON event.bucket = bucket.value AND event.id > after.value
          AND NOT event.published
        WHERE NOT EXISTS (SELECT 1 FROM outbox_dead AS dead
          WHERE dead.aggregate_type = event.aggregate_type AND dead.aggregate_id = event.aggregate_id)
        LIMIT $3)))"_sql;

// The third part of PostgreSQL's snapshot.
std::vector<int64_t> open_writers(std::string_view snapshot) {
  std::vector<int64_t> open;
  snapshot.remove_prefix(snapshot.rfind(':') + 1);
  while (!snapshot.empty()) {
    int64_t number = 0;
    const auto read = std::from_chars(snapshot.data(), snapshot.data() + snapshot.size(), number);
    open.push_back(number);
    snapshot.remove_prefix(static_cast<size_t>(read.ptr - snapshot.data()));
    if (!snapshot.empty()) snapshot.remove_prefix(1);
  }
  return open;
}

OutboxRow to_row(const Row& row) {
  std::optional<messaging::Headers> headers = headers_from_json(row.text(10));
  std::string unreadable = headers ? "" : "its headers are not a JSON object of strings";
  OutboxMessage message{.topic = row.text(4),
                        .aggregate_type = row.text(5),
                        .aggregate_id = row.text(6),
                        .aggregate_version = row.integer(7),
                        .event_type = row.text(8),
                        .payload = std::string(as_text(row.bytes(9))),
                        .headers = std::move(headers).value_or(messaging::Headers{}),
                        .id = row.id<messaging::MessageTag>(3)};
  std::string aggregate = message.aggregate_type + '/' + message.aggregate_id;
  return {.mark = {row.integer(0), {static_cast<int32_t>(row.integer(1)), row.integer(2)}},
          .aggregate = std::move(aggregate),
          .message = to_message(std::move(message)),
          .unreadable = std::move(unreadable)};
}

TxTask<Rows> execute_body(Tx& tx, Statement statement, Params params) {
  Rows rows = co_await tx.execute(statement, std::move(params));
  co_return rows;
}

TxTask<Refusal> refuse_body(Tx& tx, OutboxMark mark, std::string reason, int tries) {
  const Rows held = co_await tx.execute(lock_bucket, Params(mark.held.bucket, mark.held.fence));
  if (held.empty()) co_return Refusal::nothing;
  const Rows counted = co_await tx.execute(count_try, Params(mark.id, reason));
  if (counted.empty()) co_return Refusal::nothing;
  if (counted.one().integer(0) < tries) co_return Refusal::counted;
  co_await tx.execute(bury, Params(mark.id));
  co_await tx.execute(remove_row, Params(mark.id));
  co_return Refusal::dead;
}

}  // namespace

Task<OutboxBatch> SqlOutboxStore::unpublished(std::vector<BucketScan> scans, BatchLimits limits,
                                              std::vector<std::string> without) {
  std::vector<int64_t> buckets;
  std::vector<int64_t> fences;
  std::vector<int64_t> afters;
  for (const BucketScan& scan : scans) {
    buckets.push_back(scan.held.bucket);
    fences.push_back(scan.held.fence);
    afters.push_back(scan.after);
  }
  const Dialect dialect = database_.dialect();
  Params params(number_list(dialect, buckets), number_list(dialect, fences), number_list(dialect, afters), limits.rows,
                limits.of_bucket, json::encode(without), limits.bytes);
  // A transaction number of its own needs a transaction that is not shared with other reads.
  const bool numbered = dialect == Dialect::postgres;
  Task<Rows> reading = numbered ? database_.transact(execute_body, find_unpublished, std::move(params))
                                : database_.read(find_unpublished, std::move(params));
  const Rows found = co_await std::move(reading);
  OutboxBatch batch;
  if (found.empty()) co_return batch;
  batch.open_writers = open_writers(found[0].text(11));
  batch.reader = found[0].integer(12);
  if (found[0].is_null(0)) co_return batch;
  batch.rows.reserve(found.size());
  size_t bytes = 0;
  for (const Row& row : found) {
    bytes += row.bytes(9).size() + row.text(10).size();
    batch.rows.push_back(to_row(row));
  }
  batch.cut = found.size() >= limits.rows || bytes >= limits.bytes;
  co_return batch;
}

Task<> SqlOutboxStore::mark_published(std::vector<OutboxMark> marks) {
  std::set<HeldBucket> held;
  std::vector<int64_t> ids;
  for (const OutboxMark& mark : marks) {
    held.insert(mark.held);
    ids.push_back(mark.id);
  }
  std::vector<int64_t> buckets;
  std::vector<int64_t> fences;
  for (const HeldBucket& one : held) {
    buckets.push_back(one.bucket);
    fences.push_back(one.fence);
  }
  const Dialect dialect = database_.dialect();
  Params params(number_list(dialect, buckets), number_list(dialect, fences), number_list(dialect, ids));
  co_await database_.transact(execute_body, mark_rows, std::move(params));
}

Task<Refusal> SqlOutboxStore::refuse(OutboxMark mark, std::string reason, int tries) {
  return database_.transact(refuse_body, mark, std::move(reason), tries);
}

Task<OutboxLag> SqlOutboxStore::lag(std::vector<BucketScan> scans) {
  std::vector<int64_t> buckets;
  std::vector<int64_t> afters;
  for (const BucketScan& scan : scans) {
    buckets.push_back(scan.held.bucket);
    afters.push_back(scan.after);
  }
  const Dialect dialect = database_.dialect();
  Params params(number_list(dialect, buckets), number_list(dialect, afters), messaging::most_lag);
  const Rows rows = co_await database_.read(measure_lag, std::move(params));
  const Row& row = rows.one();
  co_return OutboxLag{row.integer(0), row.optional_time(1), row.integer(2)};
}

}  // namespace sluice::sql
