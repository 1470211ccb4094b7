#include "adapters/sql/jobs/job_slots.h"

#include <algorithm>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;
using jobs::NextLook;
using jobs::SlotGift;
using jobs::SlotHolder;

constexpr Statement make_keys = R"(
    @given(kind text, throttle_key text)
    INSERT INTO throttle_keys (kind, throttle_key)
    @values(given.kind, given.throttle_key)
    ON CONFLICT DO NOTHING)"_sql;
constexpr Statement lock_rows = R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, locked.look_at
    @from_each(SELECT look_at FROM throttle_keys
      WHERE kind = given.kind AND throttle_key = given.throttle_key @lock(FOR UPDATE)) AS locked)"_sql;
// Before a running job leaves: its start still counts. PostgreSQL writes only rows that change, and looks at the few
// holders of a key before it asks which of them run.
constexpr Statement note_starts = R"(
    @given(kind text, throttle_key text)
    @postgres(
      UPDATE throttle_keys AS noted SET last_start = running.last_start
      @from_given CROSS JOIN LATERAL (
        SELECT max(locked_at) AS last_start FROM (SELECT locked_at, status FROM jobs
          WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 OFFSET 0) AS holder
        WHERE status = 'running') AS running
      WHERE @lookup(noted.kind = given.kind AND noted.throttle_key = given.throttle_key)
        AND running.last_start > coalesce(noted.last_start, '-infinity'))
    @sqlite(
      UPDATE throttle_keys SET last_start = max(coalesce(last_start, 0), coalesce((
        SELECT max(locked_at) FROM jobs
        WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 AND status = 'running'), 0))
      WHERE kind = given.kind AND throttle_key = given.throttle_key))"_sql;
constexpr Statement read_starts = R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, noted.last_start
    @from_each(SELECT last_start FROM throttle_keys
      WHERE kind = given.kind AND throttle_key = given.throttle_key @by_index) AS noted
    WHERE noted.last_start IS NOT NULL)"_sql;
constexpr Statement read_holders = R"(
    @given(kind text, throttle_key text, place bigint)
    SELECT given.place, holder.id, holder.slot, holder.priority, holder.running
    @from_each(SELECT id, slot, priority, status = 'running' AS running FROM jobs
      WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot > 0 @by_index) AS holder)"_sql;
constexpr Statement read_seekers = R"(
    @given(kind text, throttle_key text, place bigint, slots bigint)
    SELECT given.place, seeker.id, seeker.priority
    @from_each(SELECT id, priority FROM jobs
      WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL
        AND throttle_key IS NOT NULL AND run_after <= now()
      ORDER BY priority, run_after, id LIMIT given.slots) AS seeker)"_sql;
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
// When to look at a key again; a pause: so much later, where anything waits. Where nothing waits there is no time.
constexpr Statement read_looks = R"(
    @given(kind text, throttle_key text, place bigint, pause bigint)
    SELECT given.place, CASE
      WHEN given.pause > 0 THEN (SELECT now() + @us(given.pause) FROM jobs
        WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL
          AND throttle_key IS NOT NULL LIMIT 1)
      ELSE (SELECT min(run_after) FROM jobs
        WHERE kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL
          AND throttle_key IS NOT NULL) END
    @from_given)"_sql;
constexpr Statement write_looks = R"(
    @given(kind text, throttle_key text, look_at timestamptz)
    UPDATE throttle_keys SET look_at = given.look_at @from_given
    WHERE @lookup(throttle_keys.kind = given.kind AND throttle_keys.throttle_key = given.throttle_key))"_sql;

// Subqueries with a limit, which PostgreSQL can't turn into a join with all jobs.
constexpr Statement look_at_keys = R"(
    SELECT kind, throttle_key, look_at IS NULL AND coalesce(last_start < now() - @day, true)
      AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL
        AND throttle_key IS NOT NULL LIMIT 1) IS NULL
      AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL
    FROM throttle_keys AS k
    WHERE (kind, throttle_key) > ($1, $2)
    ORDER BY kind, throttle_key LIMIT $3)"_sql;
constexpr Statement lock_free_rows = R"(
    @given(kind text, throttle_key text)
    SELECT given.kind, given.throttle_key
    @from_each(SELECT 1 FROM throttle_keys
      WHERE kind = given.kind AND throttle_key = given.throttle_key @lock(FOR UPDATE SKIP LOCKED)) AS locked)"_sql;
// Once more under the lock: whoever adds a job of the key has it first.
constexpr Statement remove_keys = R"(
    @given(kind text, throttle_key text)
    DELETE FROM throttle_keys AS k @using_given
    WHERE @lookup(k.kind = given.kind AND k.throttle_key = given.throttle_key)
      AND coalesce(k.last_start < now() - @day, true)
      AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot IS NULL
        AND throttle_key IS NOT NULL LIMIT 1) IS NULL
      AND (SELECT 1 FROM jobs WHERE kind = k.kind AND throttle_key = k.throttle_key AND slot > 0 LIMIT 1) IS NULL)"_sql;

// What is done about one of the keys.
struct KeyWork {
  bool idle = false;  // slots are free and no stored job waits for one
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
  for (const auto& [key, look_at] : keys) {
    if (key.gap_us > 0) rows.add(key.kind, key.throttle_key);
  }
  return rows;
}

TxTask<Work> read_holders_of(Tx& tx, LockedKeys keys) {
  Work work(keys.size());
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    work[i].needs = {.slots = key.slots, .one_by_one = key.gap_us > 0};
    given.add(key.kind, key.throttle_key, i);
  }
  const Rows holders = co_await execute_many(tx, read_holders, std::move(given));
  for (const Row& row : holders) {
    work[place_in(row)].needs.holders.push_back({row.id<JobTag>(1), row.integer(2), row.integer(3), row.boolean(4)});
  }
  co_return work;
}

TxTask<Work> read_seekers_of(Tx& tx, LockedKeys keys, Newcomers newcomers, Work work) {
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    if (!work[i].idle && has_room(work[i].needs)) given.add(key.kind, key.throttle_key, i, key.slots);
  }
  const Rows seekers = co_await execute_many(tx, read_seekers, std::move(given));
  for (const Row& row : seekers) {
    work[place_in(row)].needs.seekers.push_back({.id = row.id<JobTag>(1), .priority = row.integer(2)});
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto added = newcomers.find(name_of(keys[i].key));
    if (added == newcomers.end()) continue;
    work[i].needs.seekers = in_line(work[i].needs.seekers, added->second);
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
  const Rows freed = co_await execute_many(tx, take_back, outranked);
  if (freed.size() == outranked.size()) co_return work;
  std::set<JobId> free;
  for (const Row& row : freed) free.insert(row.id<JobTag>(0));
  for (KeyWork& key : work) drop_kept_slots(key.plan, free);
  co_return work;
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
  for (const KeyWork& key : work) {
    for (const SlotGift& gift : key.plan.gifts) {
      if (gift.stored) {
        gifts.add(gift.id, gift.slot, key.not_before);
      } else {
        given.newcomers[gift.id] = {gift.slot, key.not_before};
      }
    }
    // Nothing waits for a time where nothing was stored that waits.
    const bool none_waits = key.idle && key.plan.next_look == NextLook::when_due;
    given.looks.push_back(none_waits ? NextLook::none : key.plan.next_look);
  }
  co_await execute_many(tx, give, std::move(gifts));
  co_return given;
}

}  // namespace

ThrottledKey throttled_key(const jobs::JobKinds& kinds, std::string kind, std::string throttle_key) {
  const jobs::Throttle& throttle = kinds.of(kind).throttle;
  return {std::move(kind), std::move(throttle_key), throttle.concurrency, throttle.gap().count()};
}

TxTask<LockedKeys> lock_known_keys(Tx& tx, ThrottledKeys keys) {
  const std::vector<ThrottledKey> places(keys.begin(), keys.end());
  GivenRows given;
  for (size_t i = 0; i < places.size(); ++i) given.add(places[i].kind, places[i].throttle_key, i);
  const Rows found = co_await execute_many(tx, lock_rows, std::move(given));
  LockedKeys locked;
  locked.reserve(found.size());
  for (const Row& row : found) locked.push_back({places[place_in(row)], row.optional_time(1)});
  co_await execute_many(tx, note_starts, spaced_names_of(locked));
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
  GivenRows idle;
  for (const Row& row : rows) {
    looked.last = {row.text(0), row.text(1)};
    if (row.boolean(2)) idle.add(looked.last.first, looked.last.second);
  }
  const Rows locked = co_await execute_many(tx, lock_free_rows, std::move(idle));
  GivenRows ours;
  for (const Row& row : locked) ours.add(row.text(0), row.text(1));
  co_await execute_many(tx, remove_keys, std::move(ours));
  co_return looked;
}

TxTask<SlotsGiven> give_slots_to(Tx& tx, LockedKeys keys, Newcomers newcomers) {
  Work work = co_await read_holders_of(tx, keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    work[i].idle = !keys[i].look_at && std::ssize(work[i].needs.holders) < keys[i].key.slots;
  }
  SlotsGiven given = co_await carry_out(tx, std::move(keys), std::move(newcomers), std::move(work));
  co_return given;
}

TxTask<> set_looks(Tx& tx, LockedKeys keys, std::vector<jobs::NextLook> looks) {
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ThrottledKey& key = keys[i].key;
    if (looks[i] == NextLook::none) continue;
    given.add(key.kind, key.throttle_key, i, pause_before(looks[i], Duration{key.gap_us}).count());
  }
  std::vector<std::optional<Time>> wanted(keys.size());
  const Rows found = co_await execute_many(tx, read_looks, std::move(given));
  for (const Row& row : found) wanted[place_in(row)] = row.optional_time(1);

  GivenRows changed;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (wanted[i] != keys[i].look_at) changed.add(keys[i].key.kind, keys[i].key.throttle_key, wanted[i]);
  }
  co_await execute_many(tx, write_looks, std::move(changed));
}

TxTask<> give_slots(Tx& tx, LockedKeys keys) {
  if (keys.empty()) co_return;
  Work work = co_await read_holders_of(tx, keys);
  SlotsGiven given = co_await carry_out(tx, keys, {}, std::move(work));
  co_await set_looks(tx, std::move(keys), std::move(given.looks));
}

}  // namespace sluice::sql
