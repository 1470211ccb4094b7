// A circuit breaker: stops calls to an engine that fails.
//
// closed: calls pass and their outcomes are counted. When at least half of the last ten failed it opens: calls are
// refused at once for 30 s. Then half-open: five trial calls; if they succeed it closes, if one fails it opens again
// for longer (doubling to 5 min). The caller defines a failure; an answer such as 4xx never is one.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/time.h"
#include "runtime/config_fwd.h"

namespace sluice {

struct BreakerConfig {
  unsigned window = 10;
  double failure_ratio = 0.5;
  Duration open_for = 30s;
  double growth = 2;
  Duration open_max = 5min;
  unsigned trial_calls = 5;

  static void describe(config::Section<BreakerConfig>& section);
  void validate(config::Problems& problems) const;
};

// Safe to share between threads. Time is handed in: the caller has the clock.
class CircuitBreaker {
 public:
  enum class State { closed, open, half_open };

  explicit CircuitBreaker(BreakerConfig config = {});

  // Whether a call may go out now. Each yes is followed by exactly one `record` or `forget`.
  bool allow(Instant now);
  void record(bool success, Instant now);
  // The call was given up for reasons that say nothing about the other side (cancelled).
  void forget();
  // The other side was seen alive by other means: if open, trial calls may pass now.
  void sign_of_life(Instant now);

  State state(Instant now) const;
  // How long until a call may pass; 0 when one may.
  Duration retry_after(Instant now) const;

 private:
  void open(Instant now);

  BreakerConfig config_;
  mutable std::mutex mutex_;
  State state_ = State::closed;
  uint64_t outcomes_ = 0;  // the last `window`, newest in bit 0; 1 is a failure
  unsigned seen_ = 0;
  Instant open_until_{};
  Duration open_for_;
  unsigned trials_out_ = 0;
  unsigned trials_good_ = 0;
};

std::string_view name(CircuitBreaker::State state);

}  // namespace sluice
