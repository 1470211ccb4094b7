// Throttle keys: which jobs have their slots, whether and from where jobs wait, and when to look at them again.
//
// The row of a key is locked before slots of it are given or freed. As long as a transaction is held open, PostgreSQL
// keeps the versions and index entries of all rows that have changed since it began, and a look at a key that passed
// those of its jobs would take longer and longer. Therefore the row lists the jobs that have slots, which are looked up
// by their ids; it has a place in the order of jobs before which none waits, where a look for the next one begins; and
// it has a version, which grows, so that the last one is found at once.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/sql/driver/tx_task.h"
#include "adapters/sql/jobs/claim_cursors.h"
#include "base/time.h"
#include "jobs/job_kind.h"

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
  ClaimPosition waits_from{};       // no job waits for a slot before this place
  Time begun_at{};                  // this transaction; a job without a time that it adds is due then
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

// A new state of a locked key.
struct ChangedKey {
  const LockedKey* locked = nullptr;
  std::optional<Time> look_at{};
  std::set<jobs::JobId> holders{};
  bool waits = false;
  ClaimPosition waits_from{};
};
// Writes those that differ from what is stored.
TxTask<> write_states(Tx& tx, std::vector<ChangedKey> changed);

// Keys whose starts are spaced remember the last one: of jobs that run, before they leave.
TxTask<> note_starts(Tx& tx, LockedKeys keys);
// Of each such key.
TxTask<std::vector<std::optional<Time>>> read_last_starts(Tx& tx, LockedKeys keys);

}  // namespace sluice::sql
