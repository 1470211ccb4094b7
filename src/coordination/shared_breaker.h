// A circuit breaker that all instances share.
//
// The rules are those of runtime/breaker.h; the state is a row in the database, so that one instance's failures spare
// the others theirs. After the open time one caller at a time gets a trial, as a lease: if it crashes, the next one
// gets the trial when the lease ends.
//
// Every implementation passes tests/contract/shared_breaker_contract.h.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "runtime/breaker.h"
#include "runtime/task.h"

namespace sluice::coordination {

struct BreakerState {
  CircuitBreaker::State state = CircuitBreaker::State::closed;
  Duration retry_after{0};  // while open
};

class SharedBreaker {
 public:
  virtual ~SharedBreaker() = default;

  // Nothing when a call may go out now, else how long to wait. A trial is leased for `trial_ttl`.
  virtual Task<std::optional<Duration>> ask(std::string key, Duration trial_ttl) = 0;

  // Says how a permitted call went; once for every call.
  virtual Task<> record(std::string key, bool success) = 0;

  virtual Task<BreakerState> state(std::string key) = 0;
};

}  // namespace sluice::coordination
