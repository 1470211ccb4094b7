// Pauses a consumer while an engine that its handlers need is unavailable.
//
// After a failure nothing begins until a growing delay has passed, then one message alone tries. When it gets an answer
// everything goes on; otherwise the delay grows.
#pragma once

#include "runtime/retry.h"

namespace sluice::messaging {

// Belongs to one executor.
class EngineGate {
 public:
  EngineGate(Backoff backoff, Random& random) : backoff_(backoff), random_(random) {}

  // Whether one more message may begin; its outcome is reported with `answered` or `failed`.
  bool enter(Instant now);
  // Whether `enter` would succeed.
  bool open(Instant now) const { return state_ == State::open || (state_ == State::closed && now >= until_); }
  bool down() const { return state_ != State::open; }
  // When to look again; nothing comes before `answered` or `failed` otherwise.
  Instant opens_at() const { return state_ == State::closed ? until_ : Instant::max(); }

  void answered();
  // True if this closed it.
  bool failed(Instant now);

 private:
  enum class State { open, closed, trying };

  Backoff backoff_;
  Random& random_;
  State state_ = State::open;
  Instant until_{};
  unsigned failures_ = 0;  // in a row
};

}  // namespace sluice::messaging
