#include "adapters/sql/job_slots.h"

#include <cmath>
#include <map>

#include "adapters/sql/given_rows.h"
#include "adapters/sql/slot_plan.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;

constexpr Duration pause_in_case = 10s;

constexpr Statement make_keys{Statement::PerDialect{
    .postgres = "INSERT INTO throttle_keys (kind, throttle_key) "
                "SELECT kind, throttle_key FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key) "
                "ON CONFLICT DO NOTHING",
    .sqlite = "INSERT INTO throttle_keys (kind, throttle_key) VALUES ($1, $2) ON CONFLICT DO NOTHING"}};
constexpr Statement lock_rows{
    Statement::PerDialect{.postgres = R"(
        SELECT 1 FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key)
        CROSS JOIN LATERAL (SELECT 1 FROM throttle_keys
          WHERE kind = given.kind AND throttle_key = given.throttle_key FOR UPDATE) AS locked)",
                          .sqlite = "SELECT 1 FROM throttle_keys WHERE kind = $1 AND throttle_key = $2"}};
// Before a running job leaves: its start still counts.
constexpr Statement note_starts{
    Statement::PerDialect{.postgres = R"(
        UPDATE throttle_keys AS noted SET last_start = running.last_start
        FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key) CROSS JOIN LATERAL (
          SELECT max(locked_at) AS last_start FROM (SELECT locked_at, status FROM jobs
            WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 OFFSET 0) AS holder
          WHERE status = 'running') AS running
        WHERE noted.kind = ANY (ARRAY[given.kind]) AND noted.throttle_key = ANY (ARRAY[given.throttle_key])
          AND running.last_start > coalesce(noted.last_start, '-infinity'))",
                          .sqlite = "UPDATE throttle_keys SET last_start = max(coalesce(last_start, 0), coalesce(("
                                    "  SELECT max(locked_at) FROM jobs "
                                    "  WHERE kind = $1 AND throttle_key = $2 AND slot > 0 AND status = 'running'), 0)) "
                                    "WHERE kind = $1 AND throttle_key = $2"}};
constexpr Statement read_starts{
    Statement::PerDialect{.postgres = R"(
        SELECT given.kind, given.throttle_key, noted.last_start
        FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key)
        CROSS JOIN LATERAL (SELECT last_start FROM throttle_keys
          WHERE kind = given.kind AND throttle_key = given.throttle_key OFFSET 0) AS noted
        WHERE noted.last_start IS NOT NULL)",
                          .sqlite = "SELECT kind, throttle_key, last_start FROM throttle_keys "
                                    "WHERE kind = $1 AND throttle_key = $2 AND last_start IS NOT NULL"}};
constexpr Statement read_holders{Statement::PerDialect{
    .postgres = "SELECT given.kind, given.throttle_key, holder.id, holder.slot, holder.priority, holder.running "
                "FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key) CROSS JOIN LATERAL ("
                "  SELECT id, slot, priority, status = 'running' AS running FROM jobs "
                "  WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 OFFSET 0) AS holder",
    .sqlite = "SELECT kind, throttle_key, id, slot, priority, status = 'running' FROM jobs "
              "WHERE kind = $1 AND throttle_key = $2 AND slot > 0"}};
constexpr Statement read_seekers{Statement::PerDialect{
    .postgres = "SELECT given.kind, given.throttle_key, seeker.id, seeker.priority "
                "FROM unnest($1::text[], $2::text[], $3::bigint[]) AS given (kind, throttle_key, slots) "
                "CROSS JOIN LATERAL ("
                "  SELECT id, priority, run_after FROM jobs "
                "  WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL "
                "    AND throttle_key IS NOT NULL AND run_after <= now() "
                "  ORDER BY priority, run_after, id LIMIT given.slots) AS seeker "
                "ORDER BY seeker.priority, seeker.run_after, seeker.id",
    .sqlite = "SELECT kind, throttle_key, id, priority FROM jobs "
              "WHERE kind = $1 AND throttle_key = $2 AND slot IS NULL AND throttle_key IS NOT NULL "
              "  AND run_after <= now() "
              "ORDER BY priority, run_after, id LIMIT $3"}};
// A claim may have been faster; then the job keeps its slot.
constexpr Statement take_back{Statement::PerDialect{
    .postgres = R"(
        UPDATE jobs SET slot = NULL, updated_at = now() FROM unnest($1::uuid[]) AS given (id)
        WHERE jobs.id = ANY (ARRAY[CASE WHEN jobs.status <> 'running' THEN given.id END])
          AND jobs.id = ANY (ARRAY[given.id])
        RETURNING jobs.id)",
    .sqlite = "UPDATE jobs SET slot = NULL, updated_at = now() WHERE id = $1 AND status <> 'running' RETURNING id"}};
constexpr Statement give{Statement::PerDialect{
    .postgres = R"(
        UPDATE jobs SET slot = given.slot, run_after = greatest(jobs.run_after, given.not_before), updated_at = now()
        FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) AS given (id, slot, not_before)
        WHERE jobs.id = ANY (ARRAY[given.id]))",
    .sqlite = "UPDATE jobs SET slot = $2, run_after = max(run_after, coalesce($3, run_after)), updated_at = now() "
              "WHERE id = $1"}};
// Where nothing waits there is no time to look.
constexpr Statement set_look{Statement::PerDialect{
    .postgres = R"(
        UPDATE throttle_keys AS kept SET look_at = wanted.look_at FROM (
          SELECT given.kind, given.throttle_key, CASE
            WHEN given.pause > 0 THEN (SELECT now() + given.pause * interval '1 microsecond' FROM jobs
              WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL LIMIT 1)
            WHEN given.when_due THEN (SELECT min(run_after) FROM jobs
              WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL) END AS look_at
          FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
            AS given (kind, throttle_key, pause, when_due) OFFSET 0) AS wanted
        WHERE kept.kind = ANY (ARRAY[wanted.kind]) AND kept.throttle_key = ANY (ARRAY[wanted.throttle_key])
          AND kept.look_at IS DISTINCT FROM wanted.look_at)",
    .sqlite = "UPDATE throttle_keys SET look_at = CASE "
              "  WHEN $3 > 0 THEN (SELECT now() + $3 FROM jobs "
              "    WHERE kind = $1 AND throttle_key = $2 AND slot IS NULL AND throttle_key IS NOT NULL LIMIT 1) "
              "  WHEN $4 THEN (SELECT min(run_after) FROM jobs "
              "    WHERE kind = $1 AND throttle_key = $2 AND slot IS NULL AND throttle_key IS NOT NULL) END "
              "WHERE kind = $1 AND throttle_key = $2"}};

// Subqueries with a limit, which PostgreSQL can't turn into a join with all jobs.
constexpr Statement look_at_keys{Statement::PerDialect{.postgres = R"(
        SELECT kind, throttle_key, look_at IS NULL AND coalesce(last_start < now() - interval '1 day', true)
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL LIMIT 1) IS NULL
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL
        FROM throttle_keys AS k WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3)",
                                                       .sqlite = R"(
        SELECT kind, throttle_key, look_at IS NULL AND coalesce(last_start < now() - 86400000000, true)
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL
            AND throttle_key IS NOT NULL LIMIT 1) IS NULL
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL
        FROM throttle_keys AS k WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3)"}};
constexpr Statement lock_free_rows{Statement::PerDialect{
    .postgres = R"(
        SELECT given.kind, given.throttle_key FROM unnest($1::text[], $2::text[]) AS given (kind, throttle_key)
        CROSS JOIN LATERAL (SELECT 1 FROM throttle_keys
          WHERE kind = given.kind AND throttle_key = given.throttle_key FOR UPDATE SKIP LOCKED) AS locked)",
    .sqlite = "SELECT kind, throttle_key FROM throttle_keys WHERE kind = $1 AND throttle_key = $2"}};
// Once more under the lock: whoever adds a job of the key has it first.
constexpr Statement remove_keys{
    Statement::PerDialect{.postgres = R"(
        DELETE FROM throttle_keys AS k USING unnest($1::text[], $2::text[]) AS given (kind, throttle_key)
        WHERE k.kind = ANY (ARRAY[given.kind]) AND k.throttle_key = ANY (ARRAY[given.throttle_key])
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL LIMIT 1) IS NULL
          AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL)",
                          .sqlite = "DELETE FROM throttle_keys WHERE kind = $1 AND throttle_key = $2"}};

struct KeyWork {
  SlotNeeds needs;
  SlotPlan plan;
  std::optional<Time> not_before;
};
using Work = std::map<KeyName, KeyWork>;

KeyName name_in(const Row& row) {
  return {row.text(0), row.text(1)};
}

GivenRows names_of(const ThrottledKeys& keys) {
  GivenRows rows;
  for (const ThrottledKey& key : keys) rows.add(key.kind, key.throttle_key);
  return rows;
}

ThrottledKeys spaced(const ThrottledKeys& keys) {
  ThrottledKeys some;
  for (const ThrottledKey& key : keys) {
    if (key.gap_us > 0) some.insert(key);
  }
  return some;
}

TxTask<Work> read_needs(Tx& tx, ThrottledKeys keys) {
  Work work;
  GivenRows with_slots;
  for (const ThrottledKey& key : keys) {
    work[{key.kind, key.throttle_key}].needs = {.slots = key.slots, .one_by_one = key.gap_us > 0};
    with_slots.add(key.kind, key.throttle_key, key.slots);
  }
  const Rows holders = co_await execute_many(tx, read_holders, names_of(keys));
  for (const Row& row : holders) {
    work.at(name_in(row)).needs.holders.push_back({row.id<JobTag>(2), row.integer(3), row.integer(4), row.boolean(5)});
  }
  const Rows seekers = co_await execute_many(tx, read_seekers, std::move(with_slots));
  for (const Row& row : seekers) {
    work.at(name_in(row)).needs.seekers.push_back({row.id<JobTag>(2), row.integer(3)});
  }
  co_return work;
}

TxTask<Work> read_spacing(Tx& tx, ThrottledKeys keys, Work work) {
  const ThrottledKeys limited = spaced(keys);
  const Rows starts = co_await execute_many(tx, read_starts, names_of(limited));
  std::map<KeyName, Time> last;
  for (const Row& row : starts) last.emplace(name_in(row), row.time(2));
  for (const ThrottledKey& key : limited) {
    const auto found = last.find({key.kind, key.throttle_key});
    if (found != last.end()) work.at(found->first).not_before = found->second + Duration(key.gap_us);
  }
  co_return work;
}

// Takes back what the plans say; a gift whose slot could not be had is dropped.
TxTask<Work> make_room(Tx& tx, Work work) {
  GivenRows outranked;
  for (const auto& [name, key] : work) {
    for (const SlotHolder& holder : key.plan.taken_back) outranked.add(holder.id);
  }
  const Rows freed = co_await execute_many(tx, take_back, outranked);
  if (freed.size() == outranked.size()) co_return work;
  std::set<JobId> free;
  for (const Row& row : freed) free.insert(row.id<JobTag>(0));
  for (auto& [name, key] : work) {
    for (const SlotHolder& holder : key.plan.taken_back) {
      if (!free.contains(holder.id))
        std::erase_if(key.plan.gifts, [&](auto& gift) { return gift.slot == holder.slot; });
    }
  }
  co_return work;
}

}  // namespace

ThrottledKey throttled_key(const jobs::JobKinds& kinds, std::string kind, std::string throttle_key) {
  const jobs::Throttle& throttle = kinds.of(kind).throttle;
  const double gap = throttle.per_second > 0 ? std::ceil(1e6 / throttle.per_second) : 0;
  return {std::move(kind), std::move(throttle_key), throttle.concurrency, static_cast<int64_t>(gap)};
}

TxTask<> lock_keys(Tx& tx, ThrottledKeys keys) {
  Rows found = co_await execute_many(tx, lock_rows, names_of(keys));
  // Again where one was forgotten before it was locked.
  while (found.size() < keys.size()) {
    co_await execute_many(tx, make_keys, names_of(keys));
    found = co_await execute_many(tx, lock_rows, names_of(keys));
  }
  co_await execute_many(tx, note_starts, names_of(spaced(keys)));
}

TxTask<KeysLookedAt> forget_keys(Tx& tx, KeyName after, size_t most) {
  const Rows rows = co_await tx.execute(look_at_keys, Params(after.first, after.second, most));
  KeysLookedAt looked{.count = rows.size()};
  GivenRows idle;
  for (const Row& row : rows) {
    looked.last = name_in(row);
    if (row.boolean(2)) idle.add(looked.last.first, looked.last.second);
  }
  const Rows locked = co_await execute_many(tx, lock_free_rows, std::move(idle));
  GivenRows ours;
  for (const Row& row : locked) ours.add(row.text(0), row.text(1));
  co_await execute_many(tx, remove_keys, std::move(ours));
  co_return looked;
}

TxTask<> give_slots(Tx& tx, ThrottledKeys keys) {
  Work work = co_await read_needs(tx, keys);
  work = co_await read_spacing(tx, keys, std::move(work));
  for (auto& [name, key] : work) key.plan = plan_slots(std::move(key.needs));
  work = co_await make_room(tx, std::move(work));

  GivenRows gifts;
  for (const auto& [name, key] : work) {
    for (const SlotGift& gift : key.plan.gifts) gifts.add(gift.id, gift.slot, key.not_before);
  }
  co_await execute_many(tx, give, std::move(gifts));
  GivenRows looks;
  for (const ThrottledKey& key : keys) {
    const NextLook next = work.at({key.kind, key.throttle_key}).plan.next_look;
    const int64_t pause = next == NextLook::in_case ? key.gap_us + pause_in_case.count() : 0;
    looks.add(key.kind, key.throttle_key, pause, next == NextLook::when_due);
  }
  co_await execute_many(tx, set_look, std::move(looks));
}

}  // namespace sluice::sql
