// Doing a thing once, most of the time.
//
// Many instances notice that the same item needs work; one of them should do it. A lease decides which, and expires
// when that one crashes. It is a hint for efficiency and carries no fence: its holder may be paused, wake up after
// another took over, and continue, and an engine that loses state (Redis may) gives the lease twice. So occasionally
// two work at once, and the work must tolerate that. Code that guards a write uses FencedLeases
// (coordination/fenced_leases.h).
//
// Time is the engine's. Every implementation passes tests/contract/leases_contract.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

// Distinguishes one holding of a key from the next. It grows, but proves nothing outside the engine that gave it.
using LeaseToken = int64_t;

struct Lease {
  std::string key;
  LeaseToken token = 0;

  auto operator<=>(const Lease&) const = default;
};

// The result of renewing leases; those in neither list are lost.
template <class Held>
struct Renewal {
  std::vector<Held> renewed{};
  // The engine could not be asked, because a part of it (a cluster's node) is unavailable.
  std::vector<Held> unknown{};
  std::string failure{};  // why
};

struct LeaseHolder {
  std::string owner;
  LeaseToken token = 0;
  Time until;
};

class Leases {
 public:
  using Held = Lease;

  virtual ~Leases() = default;

  // The token; nothing while the lease is held (also by the same owner). One of several concurrent callers gets it.
  virtual Task<std::optional<LeaseToken>> acquire(std::string key, std::string owner, Duration ttl) = 0;

  // Extends all that are still held with their token to `ttl` from now.
  virtual Task<Renewal<Lease>> renew(std::vector<Lease> leases, Duration ttl) = 0;

  // Ends the lease at once if it is still held with that token; otherwise changes nothing.
  virtual Task<> release(Lease lease) = 0;

  // The current holder.
  virtual Task<std::optional<LeaseHolder>> holder(std::string key) = 0;

  // Ends the lease of any holder, and logs that `who` did so. The holder learns of it at its next renewal at the
  // latest. Returns the holder that lost it; nothing if it was free.
  Task<std::optional<LeaseHolder>> force_release(std::string key, std::string who);

 private:
  // Ends it and returns its holder.
  virtual Task<std::optional<LeaseHolder>> end_any(std::string key) = 0;
};

}  // namespace sluice::coordination
