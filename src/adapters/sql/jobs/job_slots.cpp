#include "adapters/sql/jobs/job_slots.h"

#include <algorithm>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_seekers.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;
using jobs::NextLook;
using jobs::SlotGift;
using jobs::SlotHolder;
using jobs::SlotSeeker;

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
    @given(id uuid, slot bigint, turn bigint, not_before timestamptz)
    UPDATE jobs SET slot = given.slot, slot_turn = given.turn,
      run_after = @greatest(jobs.run_after, coalesce(given.not_before, jobs.run_after)), updated_at = now()
    @from_given
    WHERE @lookup(jobs.id = given.id))"_sql;

// A turn has so many versions of the key's state: enough that the index notices nearly every mistake, and few enough
// that dead entries of one turn cost little.
constexpr int64_t versions_a_turn = 8;

// What is done about one of the keys.
struct KeyWork {
  int64_t slot_turn = 0;
  ClaimPosition waits_from;              // as the state says
  std::vector<SlotSeeker> first_stored;  // the first that wait, due or not, if `first_known`
  bool first_known = false;
  std::vector<SlotSeeker> newcomers;
  bool none_stored = false;   // no stored job waits
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

TxTask<Work> read_holders_of(Tx& tx, LockedKeys keys) {
  Work work(keys.size());
  GivenRows given;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto& [key, state] = keys[i];
    work[i].needs = {.slots = key.slots, .one_by_one = key.gap_us > 0, .turn = state.version};
    work[i].slot_turn = state.version / versions_a_turn;
    work[i].waits_from = state.waits_from;
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

void add_newcomers(KeyWork& key, const std::vector<Newcomer>& newcomers, const KeyState& state) {
  for (const Newcomer& newcomer : newcomers) {
    const Time at = newcomer.run_after.value_or(state.begun_at);
    key.newcomers.push_back({newcomer.priority, at, newcomer.id, false});
    if (at <= state.read_at) {
      key.needs.seekers.push_back(key.newcomers.back());
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
    wanted.push_back({key.kind, key.throttle_key, key.slots, work[i].waits_from});
    places.push_back(i);
  }
  std::vector<Seekers> found = co_await read_seekers(tx, std::move(wanted));
  for (size_t i = 0; i < places.size(); ++i) {
    KeyWork& key = work[places[i]];
    key.needs.seekers = std::move(found[i].due);
    key.all_known = found[i].complete;
    key.later = found[i].later;
    key.first_known = !found[i].passed_over;
    key.first_stored = std::move(found[i].first);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto added = newcomers.find(name_of(keys[i].key));
    if (added != newcomers.end()) add_newcomers(work[i], added->second, keys[i].state);
    work[i].seekers = work[i].needs.seekers.size();
  }
  co_return work;
}

TxTask<Work> read_spacing(Tx& tx, LockedKeys keys, Work work) {
  const std::vector<std::optional<Time>> starts = co_await read_last_starts(tx, keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (starts[i]) work[i].not_before = *starts[i] + Duration(keys[i].key.gap_us);
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

// A place before which no job of the key waits after the plan was carried out.
ClaimPosition waits_from(const KeyWork& key) {
  if (!key.plan.taken_back.empty()) return {};
  std::set<JobId> served;
  for (const SlotGift& gift : key.plan.gifts) served.insert(gift.id);
  std::optional<ClaimPosition> first;
  const auto consider = [&](const std::vector<SlotSeeker>& seekers) {
    for (const SlotSeeker& one : seekers) {
      const ClaimPosition place{one.priority, one.run_after, one.id};
      if (!served.contains(one.id) && (!first || place < *first)) first = place;
    }
  };
  if (key.first_known) {
    consider(key.first_stored);
  } else if (!key.none_stored) {
    first = key.waits_from;
  }
  consider(key.newcomers);
  return first.value_or(ClaimPosition{});
}

KeyChange change_of(KeyWork& key) {
  KeyChange change{.holders = std::move(key.holders), .next_look = key.plan.next_look, .waits_from = waits_from(key)};
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
  co_await note_starts(tx, keys);
  work = co_await read_spacing(tx, std::move(keys), std::move(work));
  for (KeyWork& key : work) key.plan = plan_slots(std::move(key.needs));
  work = co_await make_room(tx, std::move(work));

  GivenRows gifts;
  SlotsGiven given;
  for (KeyWork& key : work) {
    for (const SlotGift& gift : key.plan.gifts) {
      key.holders.insert(gift.id);
      if (gift.stored) {
        gifts.add(gift.id, gift.slot, key.slot_turn, key.not_before);
      } else {
        given.newcomers[gift.id] = {gift.slot, key.slot_turn, key.not_before};
      }
    }
    given.changes.push_back(change_of(key));
  }
  co_await execute_many(tx, give, std::move(gifts));
  co_return given;
}

}  // namespace

TxTask<SlotsGiven> give_slots_to(Tx& tx, LockedKeys keys, Newcomers newcomers) {
  Work work = co_await read_holders_of(tx, keys);
  for (size_t i = 0; i < keys.size(); ++i) work[i].all_known = work[i].none_stored = !keys[i].state.waits;
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
    wanted.push_back({key.kind, key.throttle_key, pause_before(look, Duration{key.gap_us}), changes[i].waits_from});
    places.push_back(i);
  }
  std::vector<std::optional<Time>> looks(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) looks[i] = changes[i].look_at;
  const std::vector<std::optional<Time>> found = co_await read_looks(tx, std::move(wanted));
  for (size_t i = 0; i < places.size(); ++i) looks[places[i]] = found[i];

  std::vector<ChangedKey> changed;
  for (size_t i = 0; i < keys.size(); ++i) {
    KeyChange& change = changes[i];
    const bool waits = change.next_look == NextLook::none ? change.waits : looks[i].has_value();
    changed.push_back({&keys[i], looks[i], std::move(change.holders), waits, change.waits_from});
  }
  co_await write_states(tx, std::move(changed));
}

TxTask<> give_slots(Tx& tx, LockedKeys keys, WaitingJobs waiting) {
  if (keys.empty()) co_return;
  Work work = co_await read_holders_of(tx, keys);
  if (waiting == WaitingJobs::more) {
    for (KeyWork& key : work) key.waits_from = {};
  }
  SlotsGiven given = co_await carry_out(tx, keys, {}, std::move(work));
  co_await change_states(tx, std::move(keys), std::move(given.changes));
}

}  // namespace sluice::sql
