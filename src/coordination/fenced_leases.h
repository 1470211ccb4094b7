// Being the only one, provably.
//
// A lease that is only a key with a time to live proves nothing: its holder may be paused, wake up after another took
// over, and write. Here the database gives lease and fence in one statement, and every later lease of the key has a
// higher fence. A write under the lease carries its fence, and the store refuses an old one. A fence drawn after a
// lease was acquired elsewhere would be unsafe; so this port has database adapters only. If nothing is written under
// the lease, or writing twice does no harm, `Leases` (coordination/leases.h) are cheaper.
//
// Every implementation passes tests/contract/fenced_leases_contract.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::coordination {

// Grows with every new holder of a key and never repeats.
using Fence = int64_t;

struct FencedLeaseHolder {
  std::string owner;
  Fence fence = 0;
  Time until;
};

struct FencedLease {
  std::string key;
  Fence fence = 0;

  auto operator<=>(const FencedLease&) const = default;
};

class FencedLeases {
 public:
  using Held = FencedLease;

  virtual ~FencedLeases() = default;

  // The new fence; nothing while the lease is held (also by the same owner). One of any number of callers gets it. Time
  // is the database's.
  virtual Task<std::optional<Fence>> acquire(std::string key, std::string owner, Duration ttl) = 0;

  // Extends all that are still held with that fence to `ttl` from now and returns those: the others are lost.
  virtual Task<std::vector<FencedLease>> renew(std::vector<FencedLease> leases, Duration ttl) = 0;

  // Ends the lease at once if it is still held with that fence; otherwise changes nothing.
  virtual Task<> release(FencedLease lease) = 0;

  // The current holder.
  virtual Task<std::optional<FencedLeaseHolder>> holder(std::string key) = 0;
};

}  // namespace sluice::coordination
