// Everything remembered about one limit, and the decision itself.
//
// The rings of all windows, and of each priority the credit and whether it is wanted. Adapters keep it where several
// callers meet (in memory under a lock, in a locked row of a database) and bring the engine's clock; the Redis script
// decides the same way on its own form of it.
#pragma once

#include <memory>
#include <string>

#include "base/encoding.h"
#include "coordination/shared_limit.h"

namespace sluice::coordination {

// Not safe to share between threads.
class LimitState {
 public:
  // All windows spent at `now`, no credit.
  LimitState(std::shared_ptr<const LimitPlan> plan, Stamp now);
  // Restores `bytes`; counts as spent if they were written by another run of the engine, for another size of the
  // window, or are malformed.
  LimitState(std::shared_ptr<const LimitPlan> plan, Stamp now, std::span<const uint8_t> bytes, int64_t run);
  Bytes save(int64_t run) const;

  // Gives or refuses as SharedLimit::draw says, without `sent`. The cost does not depend on the size of the windows.
  Drawn decide(size_t priority, int64_t least, int64_t most, Stamp now);
  void deposit(size_t priority, int64_t permits, Duration lasts, Stamp now);
  std::vector<int64_t> remaining(Stamp now);

 private:
  struct Credit {
    int64_t permits = 0;
    Stamp until = 0;
  };
  // A priority's rings, so that nothing is looked up by name when it counts.
  struct Account {
    std::vector<size_t> rings;
    std::vector<size_t> betters;  // priorities before it that draw from one of its rings
    bool keeps_back = false;      // it is such a better one
    int64_t most_at_once = 0;
    bool has_days = false;
    Credit credit;
    Stamp wanted_until = 0;
  };

  // How long better priorities keep this one back.
  Duration kept_back(const Account& account, Stamp now) const;
  Drawn refuse(const Account& account, int64_t least, int64_t credit, Stamp now) const;

  std::shared_ptr<const LimitPlan> plan_;
  std::vector<LimitRing> rings_;   // one for each window of the plan
  std::vector<Account> accounts_;  // one for each priority
};

}  // namespace sluice::coordination
