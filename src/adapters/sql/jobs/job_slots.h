// The slots of throttle keys, given and freed.
//
// A job with a throttle key may be claimed only with one of the key's slots. All code that gives or frees slots first
// locks the key (throttle_keys.h), in a separate statement: the next statement then reads what the last holder of the
// lock left.
//
// A slot has a turn, which begins with every eighth version of the key. A unique index on key, slot and turn ensures
// that no two jobs run in one slot during a turn, even if this code is wrong. Without turns, each claim beside a
// transaction held open would compare its entry with those of all jobs that ran in the slot since that began. When a
// turn begins, two jobs are kept out of one slot by the list of holders alone, which is read under the lock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "adapters/sql/jobs/throttle_keys.h"
#include "jobs/slot_plan.h"

namespace sluice::sql {

// Whether the jobs that wait for slots of the keys are those that waited when the keys were locked, or this transaction
// has added some.
enum class WaitingJobs { as_locked, more };
// Gives free slots to the next jobs of the keys, and takes slots back that a better priority needs.
TxTask<> give_slots(Tx& tx, LockedKeys keys, WaitingJobs waiting);

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
  int64_t turn = 0;
  std::optional<Time> not_before{};  // where starts are spaced
};
// What becomes of a key's state.
struct KeyChange {
  std::set<jobs::JobId> holders{};
  jobs::NextLook next_look = jobs::NextLook::none;  // what the database has to be asked for
  std::optional<Time> look_at{};                    // where it need not be asked
  bool waits = false;                               // the same
  ClaimPosition waits_from{};
};
struct SlotsGiven {
  std::map<jobs::JobId, SlotGiven> newcomers{};
  std::vector<KeyChange> changes{};  // one for each key
};
TxTask<SlotsGiven> give_slots_to(Tx& tx, LockedKeys keys, Newcomers newcomers);
TxTask<> change_states(Tx& tx, LockedKeys keys, std::vector<KeyChange> changes);

}  // namespace sluice::sql
