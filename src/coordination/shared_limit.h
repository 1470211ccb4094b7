// Permits from one planned limit, over all instances.
//
// For every window of the plan, wherever it begins: never more permits than its most. All windows (and days) of a
// priority give, or none does, in one atomic step on the engine's clock; callers' clocks are never used. State that the
// engine lost or may remember wrongly (wiped, evicted, failed over, restored, a clock gone back) counts as spent for
// one full window. Outside the promise: a forward step of the engine's clock.
//
// A better priority goes first over all instances: a draw that its windows refuse leaves a mark that it is wanted, and
// for `wanted_for` worse priorities that draw from one of these windows are refused.
//
// A permit must be used within the plan's `permit_life` after `sent`, on the wire and not later: then the upstream,
// too, sees no more than the window allows. It is never returned: a drawn permit is spent. Most users want `Limiter`
// (coordination/limiter.h), which queues, draws for many at once and keeps the days' credit.
//
// Every implementation passes tests/contract/shared_limit_contract.cpp. Safe to use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "coordination/limit_plan.h"
#include "coordination/limit_ring.h"
#include "runtime/task.h"

namespace sluice::coordination {

inline constexpr Duration wanted_for = 1s;

// How a draw went.
struct Drawn {
  int64_t given = 0;          // 0: refused, and nothing was taken
  Stamp stamp = 0;            // when, by the engine's clock
  Duration wait{0};           // refused: not before this time from now
  bool lacks_credit = false;  // refused because the days' credit is spent: deposit more
  int64_t credit = 0;         // credit left; 0 if the priority draws from no day
  Instant sent{};             // by the caller's clock, not after `stamp`
};

class SharedLimit {
 public:
  virtual ~SharedLimit() = default;
  virtual const LimitPlan& plan() const = 0;

  // As many permits as available, at least `least` and at most `most`, or none; never any if `least` exceeds what the
  // plan allows at once. Throws EngineUnavailable; the permits may then be spent.
  virtual Task<Drawn> draw(size_t priority, int64_t least, int64_t most) = 0;

  // Adds permits of the priority's days to its credit, which is void after `lasts`: yesterday's is worth nothing today.
  // Never repeated when the outcome is unknown: the permits count as spent.
  virtual Task<> deposit(size_t priority, int64_t permits, Duration lasts) = 0;

  // The permits of each window available now. For display, not for decisions.
  virtual Task<std::vector<int64_t>> remaining() = 0;
};

// Starts the spent window of an unknown limit now, and not with the first request for a permit. Takes nothing; called
// when a process starts, and harmless at any time.
Task<> make_known(SharedLimit& limit);

}  // namespace sluice::coordination
