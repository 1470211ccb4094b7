// A clock that only moves when told to.
//
// `run` drives an io_context: whenever nothing is left to do at this moment, time jumps to the next sleeper. A day of
// timeouts passes in milliseconds, and the order of events depends on nothing but the program.
#pragma once

#include <map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/clock.h"

namespace sluice {

// For one thread: the one that runs the io_context.
class VirtualClock : public Clock {
 public:
  explicit VirtualClock(Time start = Time{std::chrono::seconds{1'767'225'600}}) : start_(start) {}

  Time wall() const override { return start_ + std::chrono::floor<Duration>(now_.time_since_epoch()); }
  Instant now() const override { return now_; }
  Task<> sleep_until(Instant when) override;

  // Moves time, waking sleepers in the order of their times; equal times in the order they lay down.
  void advance(Duration duration);

  // Runs `context` until nothing is ready and no task sleeps, or `until` is reached.
  void run(asio::io_context& context, Instant until = Instant::max());

 private:
  Time start_;
  Instant now_{};
  std::multimap<Instant, asio::steady_timer*> sleepers_;
};

}  // namespace sluice
