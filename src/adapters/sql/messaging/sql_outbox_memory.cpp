// What outlives publishing: SqlOutboxStore's memory of logs, and the end of old rows.
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/messaging/outbox_buckets_lock.h"
#include "adapters/sql/messaging/sql_outbox_store.h"

namespace sluice::sql {
namespace {

using Memory = messaging::MessageLog::Memory;

// How many rows one statement walks over, so that none comes near the limit of its time.
constexpr int64_t step = 10'000;

constexpr Statement find_memory = "SELECT life, run, seen_at, lost_since FROM outbox_topics WHERE topic = $1";
constexpr Statement see_memory =
    "UPDATE outbox_topics SET seen_at = now() WHERE topic = $1 AND life = $2 AND run = $3 AND lost_since IS NULL";
constexpr Statement keep_memory = R"(
    INSERT INTO outbox_topics (topic, life, run, seen_at)
    VALUES ($1, $2, $3, now())
    ON CONFLICT (topic) DO UPDATE SET life = excluded.life, run = excluded.run, seen_at = excluded.seen_at)"_sql;
constexpr Statement note_loss = "UPDATE outbox_topics SET lost_since = $2, lost_after = 0 WHERE topic = $1";
constexpr Statement lock_loss = R"(
    SELECT lost_since, lost_after FROM outbox_topics
    WHERE topic = $1 AND lost_since IS NOT NULL @lock(FOR UPDATE))"_sql;
constexpr Statement move_loss = "UPDATE outbox_topics SET lost_after = $2 WHERE topic = $1";
constexpr Statement end_loss = "UPDATE outbox_topics SET lost_since = NULL WHERE topic = $1";
constexpr Statement list_topics = "SELECT topic FROM outbox_topics ORDER BY topic";
constexpr Statement raise_fences = "UPDATE outbox_buckets SET fence = fence + 1";
constexpr Statement next_step = R"(
    SELECT max(id), max(created_at), count(*)
    FROM (SELECT id, created_at FROM outbox_events WHERE id > $1 ORDER BY id LIMIT $2) AS step)"_sql;
constexpr Statement unpublish = R"(
    UPDATE outbox_events SET published = false, published_at = NULL
    WHERE id > $1 AND id <= $2 AND topic = $3 AND published AND published_at >= $4)"_sql;
constexpr Statement remove_old = R"(
    DELETE FROM outbox_events
    WHERE id > $1 AND id <= $2 AND published AND published_at < now() - @us($3))"_sql;
constexpr Statement is_old = "SELECT $1 < now() - @us($2)"_sql;

// Unpublishes a part of the messages that a topic's log has lost. False at the end. If a relay dies between two steps,
// the next one continues.
TxTask<bool> unpublish_step(Tx& tx, std::string topic) {
  const Rows loss = co_await tx.execute(lock_loss, Params(topic));
  if (loss.empty()) co_return false;
  const int64_t after = loss.one().integer(1);
  const Rows walked = co_await tx.execute(next_step, Params(after, step));
  const bool more = walked.one().integer(2) > 0;
  if (!more) {
    co_await tx.execute(end_loss, Params(topic));
    co_return false;
  }
  const int64_t last = walked.one().integer(0);
  co_await tx.execute(unpublish, Params(after, last, topic, loss.one().time(0)));
  co_await tx.execute(move_loss, Params(topic, last));
  co_return true;
}

TxTask<bool> see_body(Tx& tx, std::string topic, Memory memory) {
  const Rows seen = co_await tx.execute(see_memory, Params(topic, memory.life, memory.run));
  co_return seen.affected == 1;
}

// The time since which rows may be lost, if any.
std::optional<Time> loss_of(const Rows& before, const Memory& memory, Duration margin) {
  if (before.empty()) return std::nullopt;
  const Row& row = before.one();
  const bool same_life = row.text(0) == memory.life;
  if (same_life && row.text(1) == memory.run) return std::nullopt;
  const Time since = same_life ? row.time(2) - margin : Time{};
  return std::min(since, row.optional_time(3).value_or(since));
}

// Raises all fences: no row is read until the loss is dealt with, so that needs no lock on the buckets.
TxTask<bool> remember_body(Tx& tx, std::string topic, Memory memory, Duration margin) {
  co_await tx.execute(lock_buckets);  // no row is marked meanwhile
  const Rows before = co_await tx.execute(find_memory, Params(topic));
  const std::optional<Time> loss = loss_of(before, memory, margin);
  co_await tx.execute(keep_memory, Params(topic, memory.life, memory.run));
  if (!loss) co_return false;
  co_await tx.execute(note_loss, Params(topic, *loss));
  co_await tx.execute(raise_fences);
  co_return true;
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
  const bool lost = co_await database_.transact(remember_body, topic, std::move(memory), margin);
  bool more = true;
  while (more) more = co_await database_.transact(unpublish_step, topic);
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
