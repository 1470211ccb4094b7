// At most n at once, over all instances.
//
// A slot is a lease with an owner and an end, not a counter: a crashed instance's slot comes back when its lease ends,
// and no crash and no order of events can leave the count too high or too low. Nothing is held in the database while
// the work under a slot goes on.
//
// Every implementation passes tests/contract/slots_contract.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

struct Slot {
  std::string key;
  int64_t number = 0;  // 1 to n
  int64_t token = 0;   // grows with every taker of the number
};

class Slots {
 public:
  virtual ~Slots() = default;

  // One of the slots 1..n of `key` for `ttl`; nothing while all are taken.
  virtual Task<std::optional<Slot>> take(std::string key, int64_t n, std::string owner, Duration ttl) = 0;

  // False if the slot was lost meanwhile.
  virtual Task<bool> renew(Slot slot, Duration ttl) = 0;

  // Gives it back at once; changes nothing if it was lost.
  virtual Task<> give_back(Slot slot) = 0;

  // How many are taken now.
  virtual Task<int64_t> in_use(std::string key) = 0;
};

}  // namespace sluice::coordination
