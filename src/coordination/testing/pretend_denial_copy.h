// A shared copy of the denied tokens, that can be down and lose everything.
//
// For testing what asks it. Passes the contract suite of DenialCopy as real ones do
// (tests/contract/pretend_coordination_test.cpp). Left out on purpose: it serves one thread, and keeps tokens that
// have expired.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "coordination/denial_copy.h"
#include "runtime/errors.h"

namespace sluice::coordination {

class PretendDenialCopy : public DenialCopy {
 public:
  Task<Denied> ask(std::string token) override {
    if (down) throw EngineUnavailable("test", "down");
    if (tokens.contains(token)) co_return Denied::yes;
    co_return complete_ ? Denied::no : Denied::unknown;
  }
  Task<> add(std::vector<Denial> denials) override {
    if (down) throw EngineUnavailable("test", "down");
    for (const Denial& denial : denials) tokens.insert(denial.token);
    co_return;
  }
  Task<> begin_fill(uint64_t filler) override {
    filler_ = filler;
    co_return;
  }
  Task<> end_fill(uint64_t filler) override {
    if (filler_ != filler) co_return;
    filler_.reset();
    complete_ = true;
  }

  void wipe() {
    tokens.clear();
    filler_.reset();
    complete_ = false;
  }

  bool down = false;
  std::set<std::string> tokens;

 private:
  bool complete_ = false;
  std::optional<uint64_t> filler_;  // the last that began and has not ended
};

}  // namespace sluice::coordination
