#include "adapters/sql/jobs/job_slots.h"

#include <algorithm>
#include <ranges>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_seekers.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;
using jobs::NextLook;
using jobs::SlotGift;
using jobs::SlotHolder;
using jobs::SlotSeeker;

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
constexpr SqlPart read_at{"read_at", "@postgres(statement_timestamp()) @sqlite(now())"};
constexpr Statement lock_states = sql_with<R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, state.version, state.look_at, state.holders, state.waits, @read_at
    @from_each(SELECT version, look_at, holders, waits FROM throttle_states
      WHERE kind = given.kind AND throttle_key = given.throttle_key
      ORDER BY version DESC LIMIT 1 @lock(FOR UPDATE)) AS state)",
                                           read_at>;
constexpr Statement lock_free_states = sql_with<R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, state.version, state.look_at, state.holders, state.waits, @read_at
    @from_each(SELECT version, look_at, holders, waits FROM throttle_states
      WHERE kind = given.kind AND throttle_key = given.throttle_key
      ORDER BY version DESC LIMIT 1 @lock(FOR UPDATE SKIP LOCKED)) AS state)",
                                                read_at>;
// Before a running job leaves: its start still counts. PostgreSQL writes only rows that change, and finds the holders
// as read_holders does.
constexpr Statement note_starts = R"(
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
// Those of the given jobs that have slots of their keys.
constexpr Statement read_holders = R"(
    @given(id uuid, kind text, throttle_key text, place bigint)
    SELECT given.place, holder.id, holder.slot, holder.priority, holder.running
    @from_each(SELECT id, slot, priority, status = 'running' AS running, kind, throttle_key FROM jobs
      WHERE id = given.id @by_index) AS holder
    WHERE holder.slot > 0 AND holder.kind = given.kind AND holder.throttle_key = given.throttle_key)"_sql;
// A claim may have been faster; then the job keeps its slot.
constexpr Statement take_back = R"(
    @given(id uuid)
    UPDATE jobs SET slot = NULL, updated_at = now() @from_given
    WHERE @lookup(jobs.id = CASE WHEN jobs.status <> 'running' THEN given.id END)
      AND @lookup(jobs.id = given.id)
    RETURNING jobs.id)"_sql;
constexpr Statement give = R"(
    @given(id uuid, slot bigint, not_before timestamptz)
    UPDATE jobs SET slot = given.slot,
      run_after = @greatest(jobs.run_after, coalesce(given.not_before, jobs.run_after)), updated_at = now()
    @from_given
    WHERE @lookup(jobs.id = given.id))"_sql;
constexpr Statement write_states = R"(
    @given(kind text, throttle_key text, version bigint, look_at timestamptz, holders text, waits boolean)
    UPDATE throttle_states SET look_at = given.look_at, holders = given.holders, waits = given.waits,
      changes = changes + 1, version = (changes + 1) / 4
    @from_given
    WHERE @lookup(throttle_states.kind = given.kind AND throttle_states.throttle_key = given.throttle_key
      AND throttle_states.version = given.version))"_sql;

// Whether a key is idle: no look is due, no job waits for a slot or has one, and its last start is long past.
// Subqueries with a limit, which PostgreSQL can't turn into a join with all jobs.
constexpr SqlPart is_idle{"is_idle", R"(
    look_at IS NULL AND coalesce(last_start < now() - @day, true)
      AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL
        AND throttle_key IS NOT NULL LIMIT 1) IS NULL
      AND @postgres((SELECT 1 FROM unnest(string_to_array(holders, ',')::uuid[]) AS one (id)
          CROSS JOIN LATERAL (SELECT slot FROM jobs WHERE id = one.id OFFSET 0) AS holder
          WHERE slot > 0 LIMIT 1) IS NULL)
        @sqlite((SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL))"};
constexpr Statement look_at_keys = sql_with<R"(
    SELECT k.kind, k.throttle_key, @is_idle
    @postgres(FROM (SELECT kind, throttle_key FROM throttle_keys
        WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3) AS k
      CROSS JOIN LATERAL (SELECT look_at, holders, last_start FROM throttle_states
        WHERE kind = k.kind AND throttle_key = k.throttle_key ORDER BY version DESC LIMIT 1) AS state
      ORDER BY k.kind, k.throttle_key)
    @sqlite(FROM throttle_states AS k WHERE (kind, throttle_key) > ($1, $2) ORDER BY kind, throttle_key LIMIT $3))",
                                            is_idle>;
// Checked again under the lock: adding a job of the key takes the lock first.
constexpr Statement remove_keys = sql_with<R"(
    @given(kind text, throttle_key text)
    @postgres(WITH idle AS MATERIALIZED (SELECT k.kind, k.throttle_key, k.version
        @from_each(SELECT kind, throttle_key, version, look_at, holders, last_start FROM throttle_states
          WHERE kind = given.kind AND throttle_key = given.throttle_key ORDER BY version DESC LIMIT 1) AS k
        WHERE @is_idle),
      removed AS (DELETE FROM throttle_states AS state USING idle WHERE state.kind = ANY (ARRAY[idle.kind])
        AND state.throttle_key BETWEEN idle.throttle_key AND idle.throttle_key
        AND state.version BETWEEN idle.version AND idle.version)
      DELETE FROM throttle_keys AS k USING idle
      WHERE k.kind = ANY (ARRAY[idle.kind]) AND k.throttle_key BETWEEN idle.throttle_key AND idle.throttle_key)
    @sqlite(DELETE FROM throttle_states AS k WHERE kind = given.kind AND throttle_key = given.throttle_key AND @is_idle))",
                                           is_idle>;

// What is done about one of the keys.
struct KeyWork {
  bool all_known = false;     // every job that waits is among the seekers, or becomes due later
  std::optional<Time> later;  // when the first of those does
  size_t seekers = 0;
  std::set<JobId> holders;
  jobs::SlotNeeds needs;
  jobs::SlotPlan plan;
  std::optional<Time> not_before;
};
using Work = std::vector<KeyWork>;  // one for each key, in their order

KeyName name_of(const ThrottledKey& key) {
  return {key.kind, key.throttle_key};
}

size_t place_in(const Row& row) {
  return static_cast<size_t>(row.integer(0));
}

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

TxTask<Work> read_holders_of(Tx& tx, LockedKeys keys) {
  Work work(keys.size());
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto& [key, state] = keys[i];
    work[i].needs = {.slots = key.slots, .one_by_one = key.gap_us > 0, .turn = state.version};
    for (const JobId& holder : state.holders) given.add(holder, key.kind, key.throttle_key, i);
  }
  const Rows holders = co_await execute_many(tx, read_holders, std::move(given));
  for (const Row& row : holders) {
    KeyWork& key = work[place_in(row)];
    key.needs.holders.push_back({row.id<JobTag>(1), row.integer(2), row.integer(3), row.boolean(4)});
    key.holders.insert(row.id<JobTag>(1));
  }
  co_return work;
}

void add_newcomers(KeyWork& key, const std::vector<Newcomer>& newcomers, Time now) {
  for (const Newcomer& newcomer : newcomers) {
    const Time at = newcomer.run_after.value_or(now);
    if (at <= now) {
      key.needs.seekers.push_back({newcomer.priority, at, newcomer.id, false});
    } else if (!key.later || at < *key.later) {
      key.later = at;
    }
  }
  std::ranges::sort(key.needs.seekers);
}

TxTask<Work> read_seekers_of(Tx& tx, LockedKeys keys, Newcomers newcomers, Work work) {
  std::vector<SeekersWanted> wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    if (work[i].all_known || !has_room(work[i].needs)) continue;
    wanted.push_back({key.kind, key.throttle_key, key.slots});
    places.push_back(i);
  }
  std::vector<Seekers> found = co_await read_seekers(tx, std::move(wanted));
  for (size_t i = 0; i < places.size(); ++i) {
    KeyWork& key = work[places[i]];
    key.needs.seekers = std::move(found[i].due);
    key.all_known = found[i].complete;
    key.later = found[i].later;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto added = newcomers.find(name_of(keys[i].key));
    if (added != newcomers.end()) add_newcomers(work[i], added->second, keys[i].state.read_at);
    work[i].seekers = work[i].needs.seekers.size();
  }
  co_return work;
}

TxTask<Work> read_spacing(Tx& tx, LockedKeys keys, Work work) {
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    if (key.gap_us > 0) given.add(key.kind, key.throttle_key, i);
  }
  const Rows starts = co_await execute_many(tx, read_starts, std::move(given));
  for (const Row& row : starts) {
    const size_t place = place_in(row);
    work[place].not_before = row.time(1) + Duration(keys[place].key.gap_us);
  }
  co_return work;
}

// Takes back what the plans say.
TxTask<Work> make_room(Tx& tx, Work work) {
  GivenRows outranked;
  for (const KeyWork& key : work) {
    for (const SlotHolder& holder : key.plan.taken_back) outranked.add(holder.id);
  }
  const Rows freed = co_await execute_many(tx, take_back, std::move(outranked));
  std::set<JobId> free;
  for (const Row& row : freed) free.insert(row.id<JobTag>(0));
  for (KeyWork& key : work) {
    drop_kept_slots(key.plan, free);
    for (const SlotHolder& holder : key.plan.taken_back) {
      if (free.contains(holder.id)) key.holders.erase(holder.id);
    }
  }
  co_return work;
}

KeyChange change_of(KeyWork& key) {
  KeyChange change{.holders = std::move(key.holders), .next_look = key.plan.next_look};
  const bool all_known = key.all_known && key.plan.taken_back.empty();
  change.waits = !all_known || key.later || key.plan.gifts.size() < key.seekers;
  // With slots left, each seeker has one.
  if (change.next_look == NextLook::when_due && all_known) {
    change.next_look = NextLook::none;
    change.look_at = key.later;
  }
  return change;
}

// Of work whose holders are known.
TxTask<SlotsGiven> carry_out(Tx& tx, LockedKeys keys, Newcomers newcomers, Work work) {
  work = co_await read_seekers_of(tx, keys, std::move(newcomers), std::move(work));
  // Once more: claims do not wait for the keys' locks, and a holder that runs by now makes room for the next.
  co_await execute_many(tx, note_starts, spaced_names_of(keys));
  work = co_await read_spacing(tx, std::move(keys), std::move(work));
  for (KeyWork& key : work) key.plan = plan_slots(std::move(key.needs));
  work = co_await make_room(tx, std::move(work));

  GivenRows gifts;
  SlotsGiven given;
  for (KeyWork& key : work) {
    for (const SlotGift& gift : key.plan.gifts) {
      key.holders.insert(gift.id);
      if (gift.stored) {
        gifts.add(gift.id, gift.slot, key.not_before);
      } else {
        given.newcomers[gift.id] = {gift.slot, key.not_before};
      }
    }
    given.changes.push_back(change_of(key));
  }
  co_await execute_many(tx, give, std::move(gifts));
  co_return given;
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

TxTask<LockedKeys> lock_by(Tx& tx, Statement statement, ThrottledKeys keys) {
  const std::vector<ThrottledKey> places(keys.begin(), keys.end());
  GivenRows given;
  for (size_t i = 0; i < places.size(); ++i) given.add(places[i].kind, places[i].throttle_key, i);
  const Rows found = co_await execute_many(tx, statement, std::move(given));
  LockedKeys locked;
  locked.reserve(found.size());
  for (const Row& row : found) {
    KeyState state{row.integer(1), row.optional_time(2), ids_in(row.text(3)), row.boolean(4), row.time(5)};
    locked.push_back({places[place_in(row)], std::move(state)});
  }
  co_await execute_many(tx, note_starts, spaced_names_of(locked));
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

TxTask<SlotsGiven> give_slots_to(Tx& tx, LockedKeys keys, Newcomers newcomers) {
  Work work = co_await read_holders_of(tx, keys);
  for (size_t i = 0; i < keys.size(); ++i) work[i].all_known = !keys[i].state.waits;
  SlotsGiven given = co_await carry_out(tx, std::move(keys), std::move(newcomers), std::move(work));
  co_return given;
}

TxTask<> change_states(Tx& tx, LockedKeys keys, std::vector<KeyChange> changes) {
  std::vector<LookWanted> wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    const NextLook look = changes[i].next_look;
    if (look == NextLook::none) continue;
    wanted.push_back({key.kind, key.throttle_key, pause_before(look, Duration{key.gap_us})});
    places.push_back(i);
  }
  std::vector<std::optional<Time>> looks(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) looks[i] = changes[i].look_at;
  const std::vector<std::optional<Time>> found = co_await read_looks(tx, std::move(wanted));
  for (size_t i = 0; i < places.size(); ++i) looks[places[i]] = found[i];

  GivenRows changed;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto& [key, state] = keys[i];
    const std::set<JobId>& holders = changes[i].holders;
    const bool waits = changes[i].next_look == NextLook::none ? changes[i].waits : looks[i].has_value();
    // Jobs that have left may stay in the row: each is looked up.
    const bool known = std::ranges::includes(state.holders, holders);
    if (known && looks[i] == state.look_at && waits == state.waits) continue;
    changed.add(key.kind, key.throttle_key, state.version, looks[i], text_of(holders), waits);
  }
  co_await execute_many(tx, write_states, std::move(changed));
}

TxTask<> give_slots(Tx& tx, LockedKeys keys) {
  if (keys.empty()) co_return;
  Work work = co_await read_holders_of(tx, keys);
  SlotsGiven given = co_await carry_out(tx, keys, {}, std::move(work));
  co_await change_states(tx, std::move(keys), std::move(given.changes));
}

}  // namespace sluice::sql
