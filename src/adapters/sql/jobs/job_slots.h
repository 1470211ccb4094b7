// The slots of throttle keys, given and freed.
//
// A job with a throttle key may be claimed only with one of the key's slots. All code that gives or frees slots first
// locks the key's row, in a separate statement: the next statement then reads the state that the last holder of the
// lock left. A unique index, not this code, ensures that no two jobs run in one slot.
//
// The state of a key lists the jobs that have its slots, and they are looked up by their ids. A look for them by the
// key would pass every version of every job that ever had a slot of it, as long as PostgreSQL keeps those for a
// transaction that began before. For the same reason the state has a version, which grows: the last one is found at
// once.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "base/time.h"
#include "jobs/job_kind.h"
#include "jobs/slot_plan.h"

namespace sluice::sql {

struct ThrottledKey {
  std::string kind;
  std::string throttle_key;
  int64_t slots = 0;
  int64_t gap_us = 0;  // between two starts; 0: none

  friend auto operator<=>(const ThrottledKey&, const ThrottledKey&) = default;
};

// In the order in which they are locked.
using ThrottledKeys = std::set<ThrottledKey>;

ThrottledKey throttled_key(const jobs::JobKinds& kinds, std::string kind, std::string throttle_key);

// As its row has it.
struct KeyState {
  int64_t version = 0;
  std::optional<Time> look_at{};
  std::set<jobs::JobId> holders{};  // all jobs that have slots, and perhaps some that had
  bool waits = false;               // perhaps a job waits for a slot; else certainly none
  Time read_at{};                   // by the database's clock
};

// A key whose row this transaction has locked.
struct LockedKey {
  ThrottledKey key;
  KeyState state;
};
using LockedKeys = std::vector<LockedKey>;

// Until the end of the transaction. A key without a row gets one.
TxTask<LockedKeys> lock_keys(Tx& tx, ThrottledKeys keys);
// Only those that have a row; each key that a job has a slot of does.
TxTask<LockedKeys> lock_known_keys(Tx& tx, ThrottledKeys keys);
// The same, except those locked by others.
TxTask<LockedKeys> lock_free_keys(Tx& tx, ThrottledKeys keys);

// A place in the order of all keys.
using KeyName = std::pair<std::string, std::string>;  // kind, throttle key

struct KeysLookedAt {
  size_t count = 0;
  size_t forgotten = 0;
  KeyName last{};
};
// Deletes those among the next `most` keys that no job has and whose last start was long ago, except those locked by
// others.
TxTask<KeysLookedAt> forget_keys(Tx& tx, KeyName after, size_t most);

// Gives free slots to the next jobs of the keys, and takes slots back that a better priority needs.
TxTask<> give_slots(Tx& tx, LockedKeys keys);

// The same for jobs that are being added: those that get a slot are written with it at once, not twice. Nothing of the
// keys may have changed since they were locked.
//
//   const SlotsGiven given = co_await give_slots_to(tx, keys, newcomers);
//   ...  // writes the jobs
//   co_await change_states(tx, keys, given.changes);
struct Newcomer {
  jobs::JobId id;
  int64_t priority = 0;
  std::optional<Time> run_after{};  // none: at once
};
using Newcomers = std::map<KeyName, std::vector<Newcomer>>;

struct SlotGiven {
  int64_t slot = 0;
  std::optional<Time> not_before{};  // where starts are spaced
};
// What becomes of a key's state.
struct KeyChange {
  std::set<jobs::JobId> holders{};
  jobs::NextLook next_look = jobs::NextLook::none;  // what the database has to be asked for
  std::optional<Time> look_at{};                    // where it need not be asked
  bool waits = false;                               // the same
};
struct SlotsGiven {
  std::map<jobs::JobId, SlotGiven> newcomers{};
  std::vector<KeyChange> changes{};  // one for each key
};
TxTask<SlotsGiven> give_slots_to(Tx& tx, LockedKeys keys, Newcomers newcomers);
TxTask<> change_states(Tx& tx, LockedKeys keys, std::vector<KeyChange> changes);

}  // namespace sluice::sql
