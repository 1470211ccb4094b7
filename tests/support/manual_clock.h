// A clock that stands still until a test moves it.
//
// On a busy machine any thread may pause for seconds. A limit measured with this clock passes when the test says so,
// and at no other moment.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

#include "runtime/system_clock.h"

namespace sluice::test {

// Safe to share between threads.
class ManualClock : public Clock {
 public:
  Time wall() const override { return real_.wall(); }
  Instant now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  Task<> sleep_until(Instant when) override {
    const Sleeper sleeper(*this, when);
    while (now() < when) co_await real_.sleep_for(1ms);
  }

  // Wakes no sleeper itself: those whose time has come notice within a millisecond.
  void jump(Duration duration) {
    const std::lock_guard lock(mutex_);
    now_ += duration;
  }
  // Returns when nothing whose time has come sleeps any more. Not for the threads that sleep.
  void advance(Duration duration) {
    jump(duration);
    std::unique_lock lock(mutex_);
    awake_.wait(lock, [this] { return sleepers_.empty() || *sleepers_.begin() > now_; });
  }
  // Whether anything sleeps.
  bool is_slept_on() const {
    const std::lock_guard lock(mutex_);
    return !sleepers_.empty();
  }

 private:
  class Sleeper {
   public:
    Sleeper(ManualClock& clock, Instant when) : clock_(clock) {
      const std::lock_guard lock(clock_.mutex_);
      self_ = clock_.sleepers_.insert(when);
    }
    ~Sleeper() {
      const std::lock_guard lock(clock_.mutex_);
      clock_.sleepers_.erase(self_);
      clock_.awake_.notify_all();
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

   private:
    ManualClock& clock_;
    std::multiset<Instant>::iterator self_;
  };

  SystemClock real_;
  mutable std::mutex mutex_;
  std::condition_variable awake_;
  Instant now_{1h};
  std::multiset<Instant> sleepers_;
};

}  // namespace sluice::test
