// One call to an engine, and the caller that waits for its end.
//
// Exactly one of two ends it: a thread of the engine, or the caller, if it is cancelled first. The one that ended it
// resumes the caller. Requests of adapters derive from it; `await_request` waits for one.
#pragma once

#include <atomic>
#include <memory>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "runtime/waiting_caller.h"

namespace sluice {

class PendingCall {
 public:
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  bool waiting() const { return state_ == State::waiting; }
  bool left() const { return state_ == State::left; }

  // For the engine. From now on the caller cannot leave; for work that refers to its frame. False if it has left.
  bool keep_caller() {
    State waiting = State::waiting;
    return state_.compare_exchange_strong(waiting, State::kept);
  }
  // Ends the call. False if it has ended before; otherwise store the result and resume `take_caller()`.
  bool end() {
    State state = state_;
    while (state == State::waiting || state == State::kept) {
      if (state_.compare_exchange_weak(state, State::ended)) return true;
    }
    return false;
  }
  WaitingCaller take_caller() { return std::move(caller_); }

  // For the caller. A call that has ended can be made again.
  void expect(WaitingCaller caller) {
    caller_ = std::move(caller);
    state_ = State::waiting;
  }
  void leave() {
    State waiting = State::waiting;
    if (state_.compare_exchange_strong(waiting, State::left)) resume(take_caller());
  }
  // Once it was resumed. Throws operation_aborted.
  void throw_if_left() const {
    if (left()) throw boost::system::system_error(asio::error::operation_aborted);
  }

 protected:
  PendingCall() = default;
  ~PendingCall() = default;

 private:
  enum class State { waiting, kept, ended, left };

  std::atomic<State> state_ = State::waiting;
  WaitingCaller caller_;
};

// Calls `submit(request)` once the request can resume its caller, and returns when it was resumed.
template <class Request, class Submit>
Task<> await_request(std::shared_ptr<Request> request, Submit submit) {
  const auto start = [&request, &submit](WaitingCaller caller) {
    request->expect(std::move(caller));
    submit(request);
  };
  const auto leave = [weak = std::weak_ptr(request)] {
    if (const auto left = weak.lock()) left->leave();
  };
  co_await until_resumed(start, leave);
}

}  // namespace sluice
