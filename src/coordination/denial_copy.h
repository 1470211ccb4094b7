// A copy of the denied tokens that all instances share and that answers fast.
//
// It takes effect everywhere as soon as `add` returns. It may lose everything; then it says so (`unknown`) until it was
// filled again from the records, and never that a token is good because it forgot.
//
// Every implementation passes tests/contract/denial_copy_contract.h. Safe to use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "coordination/denial_records.h"

namespace sluice::coordination {

enum class Denied { no, yes, unknown };

class DenialCopy {
 public:
  virtual ~DenialCopy() = default;

  virtual Task<Denied> ask(std::string token) = 0;

  virtual Task<> add(std::vector<Denial> denials) = 0;

  // Filling: begin, add every denial there is, then end. If anything was lost in between, `end` changes nothing and the
  // copy goes on saying `unknown`. Several may fill at once. `filler` is a number of the caller's choice, at random.
  virtual Task<> begin_fill(uint64_t filler) = 0;
  virtual Task<> end_fill(uint64_t filler) = 0;
};

}  // namespace sluice::coordination
