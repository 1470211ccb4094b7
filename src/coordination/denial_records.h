// The truth about tokens that are no longer good.
//
// A token that was handed out is valid until it ends, wherever it is shown; logging out, a stolen device or a changed
// password must end it sooner. Its id is kept here, in the database, until the token would have ended by itself. Copies
// (coordination/denylist.h) answer faster; this decides.
//
// Every implementation passes tests/contract/denial_records_contract.cpp. Safe to use from any thread.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

struct Denial {
  std::string token;  // its id, never the token itself
  Time until;         // when the token ends by itself
};

// The position of a reader of denials.
struct DenialMark {
  Time written{};
  std::string token;
};

struct DenialPage {
  std::vector<Denial> denials;
  DenialMark mark;  // continue from here
  Time now;         // of the database
};

class DenialRecords {
 public:
  virtual ~DenialRecords() = default;

  // Durable when it returns. Denying again keeps the later end.
  virtual Task<> deny(Denial denial) = 0;

  virtual Task<bool> denied(std::string token) = 0;

  // At most `limit` of the denials still in force, in the order of writing, from `after` on. A transaction that ends
  // later may add entries before it: a follower reads the last half minute again.
  virtual Task<DenialPage> read(DenialMark after, int64_t limit) = 0;

  // Removes at most `limit` whose tokens expired long ago; returns how many.
  virtual Task<int64_t> purge(int64_t limit) = 0;
};

}  // namespace sluice::coordination
