#include "runtime/breaker.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace sluice {

CircuitBreaker::CircuitBreaker(BreakerConfig config) : config_(config), open_for_(config.open_for) {
  check_that(config.window >= 1 && config.window <= 64, "a breaker's window must be 1 to 64 calls, not {}",
             config.window);
}

bool CircuitBreaker::allow(Instant now) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::open && now >= open_until_) {
    state_ = State::half_open;
    trials_out_ = 0;
    trials_good_ = 0;
  }
  switch (state_) {
    case State::closed: return true;
    case State::open: return false;
    case State::half_open:
      if (trials_out_ + trials_good_ >= config_.trial_calls) return false;
      ++trials_out_;
      return true;
  }
  return false;
}

void CircuitBreaker::record(bool success, Instant now) {
  const std::lock_guard lock(mutex_);
  switch (state_) {
    case State::open: return;  // it began before the breaker opened
    case State::half_open:
      if (trials_out_ == 0) return;
      --trials_out_;
      if (!success) return open(now);
      if (++trials_good_ < config_.trial_calls) return;
      state_ = State::closed;
      outcomes_ = 0;
      seen_ = 0;
      open_for_ = config_.open_for;
      return;
    case State::closed: break;
  }
  const uint64_t mask = config_.window == 64 ? ~0ULL : (1ULL << config_.window) - 1;
  outcomes_ = (outcomes_ << 1 | (success ? 0 : 1)) & mask;
  seen_ = std::min(seen_ + 1, config_.window);
  const auto failed = static_cast<double>(std::popcount(outcomes_));
  if (seen_ == config_.window && failed >= config_.failure_ratio * config_.window) open(now);
}

void CircuitBreaker::forget() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::half_open && trials_out_ > 0) --trials_out_;
}

void CircuitBreaker::sign_of_life(Instant now) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::open) open_until_ = std::min(open_until_, now);
}

void CircuitBreaker::open(Instant now) {
  const bool again = state_ == State::half_open;
  if (again) {
    const auto grown = static_cast<double>(open_for_.count()) * config_.growth;
    open_for_ = std::min(config_.open_max, Duration{static_cast<int64_t>(grown)});
  }
  state_ = State::open;
  open_until_ = now + open_for_;
}

CircuitBreaker::State CircuitBreaker::state(Instant now) const {
  const std::lock_guard lock(mutex_);
  return state_ == State::open && now >= open_until_ ? State::half_open : state_;
}

Duration CircuitBreaker::retry_after(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open || now >= open_until_) return Duration{0};
  return std::chrono::ceil<Duration>(open_until_ - now);
}

std::string_view name(CircuitBreaker::State state) {
  switch (state) {
    case CircuitBreaker::State::closed: return "closed";
    case CircuitBreaker::State::open: return "open";
    case CircuitBreaker::State::half_open: return "half-open";
  }
  return "";
}

}  // namespace sluice
