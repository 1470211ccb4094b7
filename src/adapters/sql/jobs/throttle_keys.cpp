#include "adapters/sql/jobs/throttle_keys.h"

#include <algorithm>
#include <ranges>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;

// PostgreSQL: no two states of one key, whose versions differ. A key that was forgotten begins above its old versions,
// which may still be in the index.
constexpr Statement make_keys = R"(
    @given(kind text, throttle_key text)
    @postgres(WITH made AS (
        INSERT INTO throttle_keys (kind, throttle_key) @values(given.kind, given.throttle_key)
        ON CONFLICT DO NOTHING RETURNING kind, throttle_key)
      INSERT INTO throttle_states (kind, throttle_key, version, changes)
        SELECT kind, throttle_key, @clock_us / 4, @clock_us FROM made)
    @sqlite(INSERT INTO throttle_states (kind, throttle_key) @values(given.kind, given.throttle_key)
      ON CONFLICT DO NOTHING))"_sql;
// The last version is in force. One that another transaction replaces just now is waited for.
constexpr SqlPart state_columns{
    "state_columns", "version, look_at, holders, waits, waits_from_priority, waits_from_time, waits_from_id"};
constexpr SqlPart read_at{"read_at", "@postgres(statement_timestamp()) @sqlite(now())"};
constexpr Statement lock_states = sql_with<R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, @state_columns, now(), @read_at
    @from_each(SELECT @state_columns FROM throttle_states
      WHERE kind = given.kind AND throttle_key = given.throttle_key
      ORDER BY version DESC LIMIT 1 @lock(FOR UPDATE)) AS state)",
                                           state_columns, read_at>;
constexpr Statement lock_free_states = sql_with<R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, @state_columns, now(), @read_at
    @from_each(SELECT @state_columns FROM throttle_states
      WHERE kind = given.kind AND throttle_key = given.throttle_key
      ORDER BY version DESC LIMIT 1 @lock(FOR UPDATE SKIP LOCKED)) AS state)",
                                                state_columns, read_at>;
// Before a running job leaves: its start still counts. PostgreSQL writes only rows that change, and finds the holders
// as read_holders does.
constexpr Statement keep_starts = R"(
    @given(kind text, throttle_key text)
    @postgres(
      UPDATE throttle_states AS noted SET last_start = running.last_start
      @from_given
      CROSS JOIN LATERAL (SELECT version, holders FROM throttle_states
        WHERE kind = given.kind AND throttle_key = given.throttle_key ORDER BY version DESC LIMIT 1) AS state
      CROSS JOIN LATERAL (SELECT max(locked_at) AS last_start
        FROM unnest(string_to_array(state.holders, ',')::uuid[]) AS one (id)
        CROSS JOIN LATERAL (SELECT locked_at, status, kind, throttle_key FROM jobs WHERE id = one.id OFFSET 0) AS holder
        WHERE status = 'running' AND kind = given.kind AND throttle_key = given.throttle_key) AS running
      WHERE @lookup(noted.kind = given.kind AND noted.throttle_key = given.throttle_key)
        AND noted.version BETWEEN state.version AND state.version
        AND running.last_start > coalesce(noted.last_start, '-infinity'))
    @sqlite(
      UPDATE throttle_states SET last_start = max(coalesce(last_start, 0), coalesce((
        SELECT max(locked_at) FROM jobs
        WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 AND status = 'running'), 0))
      WHERE kind = given.kind AND throttle_key = given.throttle_key))"_sql;
constexpr Statement read_starts = R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, state.last_start
    @from_each(SELECT last_start FROM throttle_states
      WHERE kind = given.kind AND throttle_key = given.throttle_key ORDER BY version DESC LIMIT 1) AS state
    WHERE state.last_start IS NOT NULL)"_sql;
constexpr Statement change_states = R"(
    @given(kind text, throttle_key text, version bigint, look_at timestamptz, holders text, waits boolean,
      priority bigint, time timestamptz, id uuid)
    UPDATE throttle_states SET look_at = given.look_at, holders = given.holders, waits = given.waits,
      waits_from_priority = given.priority, waits_from_time = given.time, waits_from_id = given.id,
      changes = changes + 1, version = (changes + 1) / 4
    @from_given
    WHERE @lookup(throttle_states.kind = given.kind AND throttle_states.throttle_key = given.throttle_key
      AND throttle_states.version = given.version))"_sql;

// Whether a key is idle: no look is due, no job waits for a slot or has one, and its last start is long past. A
// subquery with a limit, which PostgreSQL can't turn into a join with all jobs.
constexpr SqlPart is_idle{"is_idle", R"(
    look_at IS NULL AND NOT waits AND coalesce(last_start < now() - @day, true)
      AND @postgres((SELECT 1 FROM unnest(string_to_array(holders, ',')::uuid[]) AS one (id)
          CROSS JOIN LATERAL (SELECT slot FROM jobs WHERE id = one.id OFFSET 0) AS holder
          WHERE slot > 0 LIMIT 1) IS NULL)
        @sqlite((SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL))"};
constexpr Statement look_at_keys = sql_with<R"(
    SELECT k.kind, k.throttle_key, @is_idle
    @postgres(FROM (SELECT kind, throttle_key FROM throttle_keys
        WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3) AS k
      CROSS JOIN LATERAL (SELECT look_at, holders, waits, last_start FROM throttle_states
        WHERE kind = k.kind AND throttle_key = k.throttle_key ORDER BY version DESC LIMIT 1) AS state
      ORDER BY k.kind, k.throttle_key)
    @sqlite(FROM throttle_states AS k WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3))",
                                            is_idle>;
// Checked again under the lock: adding a job of the key takes the lock first.
constexpr Statement remove_keys = sql_with<R"(
    @given(kind text, throttle_key text)
    @postgres(WITH idle AS MATERIALIZED (SELECT k.kind, k.throttle_key, k.version
        @from_each(SELECT kind, throttle_key, version, look_at, holders, waits, last_start FROM throttle_states
          WHERE kind = given.kind AND throttle_key = given.throttle_key ORDER BY version DESC LIMIT 1) AS k
        WHERE @is_idle),
      removed AS (DELETE FROM throttle_states AS state USING idle WHERE state.kind = ANY (ARRAY[idle.kind])
        AND state.throttle_key BETWEEN idle.throttle_key AND idle.throttle_key
        AND state.version BETWEEN idle.version AND idle.version)
      DELETE FROM throttle_keys AS k USING idle
      WHERE k.kind = ANY (ARRAY[idle.kind]) AND k.throttle_key BETWEEN idle.throttle_key AND idle.throttle_key)
    @sqlite(DELETE FROM throttle_states AS k WHERE kind = given.kind AND throttle_key = given.throttle_key AND @is_idle))",
                                           is_idle>;

GivenRows names_of(const ThrottledKeys& keys) {
  GivenRows rows;
  for (const ThrottledKey& key : keys) rows.add(key.kind, key.throttle_key);
  return rows;
}

GivenRows spaced_names_of(const LockedKeys& keys) {
  GivenRows rows;
  for (const auto& [key, state] : keys) {
    if (key.gap_us > 0) rows.add(key.kind, key.throttle_key);
  }
  return rows;
}

constexpr char separator = ',';

std::string text_of(const std::set<JobId>& ids) {
  std::string text;
  for (const JobId& id : ids) {
    if (!text.empty()) text += separator;
    text += id.text();
  }
  return text;
}

std::set<JobId> ids_in(std::string_view text) {
  std::set<JobId> ids;
  for (const auto part : std::views::split(text, separator)) {
    const auto id = JobId::parse(std::string_view(part));
    check(id.has_value(), "the stored holders of a throttle key are malformed");
    ids.insert(*id);
  }
  return ids;
}

KeyState state_in(const Row& row) {
  constexpr size_t first = 1;
  constexpr size_t rest = first + state_columns.size();
  KeyState state{.version = row.integer(first + state_columns["version"]),
                 .look_at = row.optional_time(first + state_columns["look_at"]),
                 .holders = ids_in(row.text(first + state_columns["holders"])),
                 .waits = row.boolean(first + state_columns["waits"]),
                 .begun_at = row.time(rest),
                 .read_at = row.time(rest + 1)};
  if (!row.is_null(first + state_columns["waits_from_id"])) {
    state.waits_from = {.priority = row.integer(first + state_columns["waits_from_priority"]),
                        .run_after = row.time(first + state_columns["waits_from_time"]),
                        .id = row.id<JobTag>(first + state_columns["waits_from_id"])};
  }
  return state;
}

TxTask<LockedKeys> lock_by(Tx& tx, Statement statement, ThrottledKeys keys) {
  const std::vector<ThrottledKey> places(keys.begin(), keys.end());
  GivenRows given;
  for (size_t i = 0; i < places.size(); ++i) given.add(places[i].kind, places[i].throttle_key, i);
  const Rows found = co_await execute_many(tx, statement, std::move(given));
  LockedKeys locked;
  locked.reserve(found.size());
  for (const Row& row : found) {
    locked.push_back({places[place_in(row)], state_in(row)});
  }
  co_await note_starts(tx, locked);
  co_return locked;
}

}  // namespace

ThrottledKey throttled_key(const jobs::JobKinds& kinds, std::string kind, std::string throttle_key) {
  const jobs::Throttle& throttle = kinds.of(kind).throttle;
  return {std::move(kind), std::move(throttle_key), throttle.concurrency, throttle.gap().count()};
}

TxTask<LockedKeys> lock_known_keys(Tx& tx, ThrottledKeys keys) {
  LockedKeys locked = co_await lock_by(tx, lock_states, std::move(keys));
  co_return locked;
}

TxTask<LockedKeys> lock_free_keys(Tx& tx, ThrottledKeys keys) {
  LockedKeys locked = co_await lock_by(tx, lock_free_states, std::move(keys));
  co_return locked;
}

TxTask<LockedKeys> lock_keys(Tx& tx, ThrottledKeys keys) {
  LockedKeys all;
  while (true) {
    LockedKeys locked = co_await lock_known_keys(tx, keys);
    for (const LockedKey& one : locked) keys.erase(one.key);
    std::ranges::move(locked, std::back_inserter(all));
    if (keys.empty()) co_return all;
    // They are new, or were forgotten before they were locked.
    co_await execute_many(tx, make_keys, names_of(keys));
  }
}

TxTask<KeysLookedAt> forget_keys(Tx& tx, KeyName after, size_t most) {
  const Rows rows = co_await tx.execute(look_at_keys, Params(after.first, after.second, most));
  KeysLookedAt looked{.count = rows.size()};
  std::vector<KeyName> idle;
  GivenRows given;
  for (const Row& row : rows) {
    looked.last = {row.text(0), row.text(1)};
    if (!row.boolean(2)) continue;
    given.add(looked.last.first, looked.last.second, idle.size());
    idle.push_back(looked.last);
  }
  const Rows locked = co_await execute_many(tx, lock_free_states, std::move(given));
  GivenRows ours;
  for (const Row& row : locked) {
    const auto& [kind, throttle_key] = idle[place_in(row)];
    ours.add(kind, throttle_key);
  }
  looked.forgotten = locked.size();
  co_await execute_many(tx, remove_keys, std::move(ours));
  co_return looked;
}

TxTask<> write_states(Tx& tx, std::vector<ChangedKey> changed) {
  GivenRows given;
  for (const ChangedKey& one : changed) {
    const auto& [key, state] = *one.locked;
    // Jobs that have left may stay in the row: each is looked up. So may a place that lies further back.
    const bool holds = std::ranges::includes(state.holders, one.holders) && one.look_at == state.look_at &&
                       one.waits == state.waits && (!one.waits || state.waits_from <= one.waits_from);
    if (holds) continue;
    std::optional<int64_t> priority;
    std::optional<Time> time;
    std::optional<JobId> id;
    if (one.waits_from != ClaimPosition{}) {
      priority = one.waits_from.priority;
      time = one.waits_from.run_after;
      id = one.waits_from.id;
    }
    given.add(key.kind, key.throttle_key, state.version, one.look_at, text_of(one.holders), one.waits, priority, time,
              id);
  }
  co_await execute_many(tx, change_states, std::move(given));
}

TxTask<> note_starts(Tx& tx, LockedKeys keys) {
  co_await execute_many(tx, keep_starts, spaced_names_of(keys));
}

TxTask<std::vector<std::optional<Time>>> read_last_starts(Tx& tx, LockedKeys keys) {
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    if (key.gap_us > 0) given.add(key.kind, key.throttle_key, i);
  }
  std::vector<std::optional<Time>> starts(keys.size());
  const Rows rows = co_await execute_many(tx, read_starts, std::move(given));
  for (const Row& row : rows) starts[place_in(row)] = row.time(1);
  co_return starts;
}

}  // namespace sluice::sql
