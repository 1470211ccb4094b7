// The machine's clock, which a test can stop: for whoever uses it no time passes until it goes on.
//
// So a test can tell what happens because of an event from what merely happens after a while, on a machine of any
// speed.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

#include "runtime/system_clock.h"

namespace sluice::test {

// Safe to share between threads.
class StoppableClock : public Clock {
 public:
  Time wall() const override { return real_.wall(); }
  Instant now() const override {
    const std::lock_guard lock(mutex_);
    return stopped_at_.value_or(real_.now() - stood_still_);
  }
  Task<> sleep_until(Instant when) override {
    while (now() < when) {
      const Duration left = std::chrono::ceil<Duration>(when - now());
      co_await real_.sleep_for(stopped() ? std::max<Duration>(left, 10ms) : left);
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_at_ = real_.now() - stood_still_;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    stood_still_ = real_.now() - *stopped_at_;
    stopped_at_.reset();
  }

 private:
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_at_.has_value();
  }

  SystemClock real_;
  mutable std::mutex mutex_;
  std::optional<Instant> stopped_at_;
  Instant::duration stood_still_{0};
};

}  // namespace sluice::test
