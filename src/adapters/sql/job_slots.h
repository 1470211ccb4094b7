// The slots of throttle keys, given and freed.
//
// A job of a throttle key may be claimed only with one of the key's slots. All who give or free slots first lock the
// key's row, in a statement of its own: what the next statement reads is then what the last holder of the lock left.
// That no slot is given twice is the business of a unique index, not of this code.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <utility>

#include "adapters/sql/tx_task.h"
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

// Until the end of the transaction.
TxTask<> lock_keys(Tx& tx, ThrottledKeys keys);

// A place in the order of all keys.
using KeyName = std::pair<std::string, std::string>;  // kind, throttle key

struct KeysLookedAt {
  size_t count = 0;
  KeyName last{};
};
// Forgets those among the next `most` keys that no job has and whose last start was long ago, but for those that others
// have locked.
TxTask<KeysLookedAt> forget_keys(Tx& tx, KeyName after, size_t most);

// Gives the keys, which are locked, what slots are free, and takes back what a better priority needs.
TxTask<> give_slots(Tx& tx, ThrottledKeys keys);

}  // namespace sluice::sql
