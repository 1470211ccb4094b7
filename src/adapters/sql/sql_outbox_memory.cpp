// What outlives publishing: SqlOutboxStore's memory of logs, and the end of old rows.
#include "adapters/sql/sql_outbox_store.h"

namespace sluice::sql {
namespace {

using Memory = messaging::MessageLog::Memory;

// How many rows one statement walks over, so that none comes near the limit of its time.
constexpr int64_t step = 10'000;

constexpr Statement find_memory = "SELECT life, run, seen_at FROM outbox_topics WHERE topic = $1";
constexpr Statement see_memory = "UPDATE outbox_topics SET seen_at = now() WHERE topic = $1 AND life = $2 AND run = $3";
constexpr Statement keep_memory =
    "INSERT INTO outbox_topics (topic, life, run, seen_at) VALUES ($1, $2, $3, now()) "
    "ON CONFLICT (topic) DO UPDATE SET life = excluded.life, run = excluded.run, seen_at = excluded.seen_at";
constexpr Statement list_topics = "SELECT topic FROM outbox_topics ORDER BY topic";
constexpr Statement lock_buckets{
    Statement::PerDialect{.postgres = "SELECT bucket FROM outbox_buckets ORDER BY bucket FOR UPDATE",
                          .sqlite = "SELECT bucket FROM outbox_buckets ORDER BY bucket"}};
constexpr Statement raise_fences = "UPDATE outbox_buckets SET fence = fence + 1";
constexpr Statement next_step =
    "SELECT max(id), max(created_at), count(*) "
    "FROM (SELECT id, created_at FROM outbox_events WHERE id > $1 ORDER BY id LIMIT $2) AS step";
constexpr Statement unpublish =
    "UPDATE outbox_events SET published = false, published_at = NULL "
    "WHERE id > $1 AND id <= $2 AND topic = $3 AND published AND published_at >= $4";
constexpr Statement remove_old{Statement::PerDialect{
    .postgres = "DELETE FROM outbox_events WHERE id > $1 AND id <= $2 AND published "
                "AND published_at < now() - $3::bigint * interval '1 microsecond'",
    .sqlite = "DELETE FROM outbox_events WHERE id > $1 AND id <= $2 AND published AND published_at < now() - $3"}};
constexpr Statement is_old{Statement::PerDialect{
    .postgres = "SELECT $1 < now() - $2::bigint * interval '1 microsecond'", .sqlite = "SELECT $1 < now() - $2"}};

TxTask<> unpublish_since(Tx& tx, std::string topic, Time since) {
  int64_t after = 0;
  while (true) {
    const Rows walked = co_await tx.execute(next_step, Params(after, step));
    if (walked.one().integer(2) == 0) co_return;
    const int64_t last = walked.one().integer(0);
    co_await tx.execute(unpublish, Params(after, last, topic, since));
    after = last;
  }
}

TxTask<bool> see_body(Tx& tx, std::string topic, Memory memory) {
  const Rows seen = co_await tx.execute(see_memory, Params(topic, memory.life, memory.run));
  co_return seen.affected == 1;
}

TxTask<bool> remember_body(Tx& tx, std::string topic, Memory memory, Duration margin) {
  co_await tx.execute(lock_buckets);  // nobody marks anything meanwhile
  const Rows before = co_await tx.execute(find_memory, Params(topic));
  const bool known = !before.empty();
  const bool same_life = known && before.one().text(0) == memory.life;
  const bool same = same_life && before.one().text(1) == memory.run;
  if (known && !same) {
    const Time since = same_life ? before.one().time(2) - margin : Time{};
    co_await unpublish_since(tx, topic, since);
    co_await tx.execute(raise_fences);
  }
  co_await tx.execute(keep_memory, Params(topic, memory.life, memory.run));
  co_return known && !same;
}

TxTask<std::optional<int64_t>> sweep_body(Tx& tx, int64_t after, size_t most, Duration keep) {
  const Rows walked = co_await tx.execute(next_step, Params(after, most));
  const Row& row = walked.one();
  if (row.integer(2) == 0) co_return std::nullopt;
  const int64_t last = row.integer(0);
  co_await tx.execute(remove_old, Params(after, last, keep.count()));
  // Behind a row that is younger than `keep` nothing can be older.
  const Rows old = co_await tx.execute(is_old, Params(row.time(1), keep.count()));
  const bool more = old.one().boolean(0) && row.integer(2) == static_cast<int64_t>(most);
  co_return more ? std::optional(last) : std::nullopt;
}

}  // namespace

Task<bool> SqlOutboxStore::remember(std::string topic, Memory memory, Duration margin) {
  const bool same = co_await database_.transact(see_body, topic, memory);
  if (same) co_return false;
  const bool lost = co_await database_.transact(remember_body, std::move(topic), std::move(memory), margin);
  co_return lost;
}

Task<std::vector<std::string>> SqlOutboxStore::topics() {
  const Rows rows = co_await database_.read(list_topics);
  std::vector<std::string> topics;
  for (const Row& row : rows) topics.push_back(row.text(0));
  co_return topics;
}

Task<std::optional<int64_t>> SqlOutboxStore::sweep(int64_t after, size_t most, Duration keep) {
  return database_.transact(sweep_body, after, most, keep);
}

}  // namespace sluice::sql
