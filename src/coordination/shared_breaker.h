// A circuit breaker that all instances share.
//
// The rules are those of runtime/breaker.h; the state is a row in the database, so that instances share their failures.
// After the open time one caller at a time gets a trial, as a lease: if it crashes, the next one gets the trial when
// the lease ends. A call reports its outcome with its permit: one that began before the breaker opened, or whose trial
// was given to another caller meanwhile, does not count.
//
// Every implementation passes tests/contract/shared_breaker_contract.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "runtime/breaker.h"
#include "runtime/task.h"

namespace sluice::coordination {

struct BreakerState {
  CircuitBreaker::State state = CircuitBreaker::State::closed;
  Duration retry_after{0};  // while open
};

// Leave to make one call.
struct BreakerPermit {
  int64_t period = 0;  // grows whenever the breaker opens or closes, and with every trial
};

class SharedBreaker {
 public:
  virtual ~SharedBreaker() = default;

  // A permit when a call may go out now, else how long to wait. A trial is leased for `trial_ttl`.
  virtual Task<Result<BreakerPermit, Duration>> ask(std::string key, Duration trial_ttl) = 0;

  // Says how a permitted call went; once for every call.
  virtual Task<> record(std::string key, BreakerPermit permit, bool success) = 0;
  // The permitted call was not made: the next caller gets the trial at once.
  virtual Task<> forget(std::string key, BreakerPermit permit) = 0;

  virtual Task<BreakerState> state(std::string key) = 0;
};

}  // namespace sluice::coordination
