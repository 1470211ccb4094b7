// Every wait has an end.
#pragma once

#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice {

// The time by which a whole request must be done; passed down, so that every step knows the time left.
struct Deadline {
  Instant at = Instant::max();

  static Deadline after(const Clock& clock, Duration duration) { return {clock.now() + duration}; }
  bool passed(const Clock& clock) const { return clock.now() >= at; }
  Duration left(const Clock& clock) const {
    return std::max(Duration{0}, std::chrono::floor<Duration>(at - clock.now()));
  }
  // The nearer of this one and `duration` from now: a step's own limit never extends the whole.
  Deadline sooner(const Clock& clock, Duration duration) const { return {std::min(at, clock.now() + duration)}; }
};

namespace detail {

template <class Value>
Task<> run_into(Task<Value> task, std::optional<Value>& result) {
  result.emplace(co_await std::move(task));
}

// Runs `task` until it ends or `deadline` passes; then cancels it and waits until it is gone. True if it ended by
// itself.
Task<bool> race(Clock& clock, Deadline deadline, Task<> task);

}  // namespace detail

// The task's result, or DeadlineExceeded with `what` if the deadline passed and the task was cancelled.
template <class Value>
Task<Value> with_deadline(Clock& clock, Deadline deadline, std::string what, Task<Value> task) {
  if constexpr (std::is_void_v<Value>) {
    const bool in_time = co_await detail::race(clock, deadline, std::move(task));
    if (!in_time) throw DeadlineExceeded(std::move(what));
  } else {
    std::optional<Value> result;
    const bool in_time = co_await detail::race(clock, deadline, detail::run_into(std::move(task), result));
    if (!in_time) throw DeadlineExceeded(std::move(what));
    co_return std::move(*result);
  }
}

}  // namespace sluice
