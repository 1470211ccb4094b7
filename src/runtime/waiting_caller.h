// Ending a call on one thread and resuming its caller on another.
//
// A caller waits on its own executor while a thread of an engine does the work. That thread releases everything that
// belongs to the call before it resumes the caller: libstdc++ counts the owners of an exception in a way that TSan
// cannot see, and a caller may free memory that its result refers to.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include "runtime/task.h"

namespace sluice {

// The coroutine to resume, and its executor.
struct WaitingCaller {
  Executor executor{};
  std::move_only_function<void()> resume{};
};

namespace detail {

template <class Handler>
void leave_if_cancelled(const Handler&, std::nullptr_t) {}

template <class Handler, class Leave>
void leave_if_cancelled(const Handler& handler, Leave leave) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) slot.assign([leave = std::move(leave)](asio::cancellation_type) { leave(); });
}

}  // namespace detail

// To be awaited: suspends the calling coroutine, hands it to `start`, and returns when it was resumed. If it is
// cancelled meanwhile, `leave` is called on its thread; without one, cancelling has no effect. Not a Task, which would
// be one more frame for each call.
template <class Start, class Leave = std::nullptr_t>
auto until_resumed(Start start, Leave leave = nullptr) {
  auto initiate = [start = std::move(start), leave = std::move(leave)](auto handler) mutable {
    detail::leave_if_cancelled(handler, std::move(leave));
    Executor executor = asio::get_associated_executor(handler);
    start(WaitingCaller{.executor = std::move(executor), .resume = std::move(handler)});
  };
  return asio::async_initiate<const asio::deferred_t&, void()>(std::move(initiate), asio::deferred);
}

// The error of a call, owned by one thread at a time. It can be moved and not copied: callers that fail for the same
// reason each get an exception of their own.
class CallError {
 public:
  CallError() = default;
  // Takes the only reference. One made of std::current_exception() is the only one once the handler has been left.
  explicit CallError(std::exception_ptr error) : error_(std::move(error)) {}
  CallError(CallError&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  CallError& operator=(CallError&& other) noexcept {
    error_ = std::exchange(other.error_, nullptr);
    return *this;
  }

  explicit operator bool() const { return error_ != nullptr; }
  // Throws the error, if there is one, and gives it up.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

// Throws a copy of an error that several threads hold. The copy shares nothing with it, not even its text, whose owners
// are counted out of TSan's sight too. Copies the errors of engines and Asio's own; any other is thrown as it is.
[[noreturn]] void throw_copy(const std::exception_ptr& error);

// Resumes callers on their executors, with a single post per executor. An exception of a caller leaves through its
// event loop; the others are still resumed.
void resume_all(std::vector<WaitingCaller> callers);
void resume(WaitingCaller caller);

}  // namespace sluice
