// Waiting until something changed, on one thread.
//
// The caller looks at its own condition, waits, and looks again: a wakeup carries no value and is not remembered.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include "runtime/clock.h"

namespace sluice {

// Belongs to one executor.
class Wakeup {
 public:
  explicit Wakeup(const Executor& executor) : timer_(executor, asio::steady_timer::time_point::max()) {}

  // Returns at the next notify_all.
  Task<> wait();
  // The same, at `when` at the latest.
  Task<> wait_until(Clock& clock, Instant when);
  void notify_all() { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

}  // namespace sluice
