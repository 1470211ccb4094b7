#include "messaging/engine_gate.h"

namespace sluice::messaging {

bool EngineGate::enter(Instant now) {
  if (!open(now)) return false;
  if (state_ == State::closed) state_ = State::trying;
  return true;
}

void EngineGate::answered() {
  // A success that began before the failure does not open the gate.
  if (state_ == State::closed) return;
  state_ = State::open;
  failures_ = 0;
}

bool EngineGate::failed(Instant now) {
  if (state_ == State::closed) return false;  // many fail at once: that is one failure
  state_ = State::closed;
  until_ = now + backoff_.delay(failures_, random_);
  ++failures_;
  return true;
}

}  // namespace sluice::messaging
