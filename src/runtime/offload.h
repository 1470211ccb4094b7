// Blocking work on threads of its own.
//
// SQLite, librdkafka and password hashing block. They run on a small fixed set of threads behind a bounded queue, so
// that they never stall an I/O thread and a storm of them is refused at the door instead of piling up.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/errors.h"
#include "runtime/waiting_caller.h"

namespace sluice {

// Safe to share between threads.
class Offload {
 public:
  using Work = std::move_only_function<void()>;

  // At most `max_waiting` pieces of work wait for one of `threads`; more are refused.
  Offload(std::string name, unsigned threads, size_t max_waiting);
  // Finishes the accepted work.
  ~Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  // Runs `function` on one of the threads and returns its result on the caller's executor. Throws Overloaded when the
  // queue is full, and any exception of the function. Cancelling the caller does not stop work that was accepted.
  template <class Function>
  Task<std::invoke_result_t<Function&>> run(Function function);

  // The bare form: false when full.
  bool try_submit(Work work);

 private:
  void serve();

  std::string name_;
  size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable work_or_stop_;
  std::deque<Work> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

template <class Function>
Task<std::invoke_result_t<Function&>> Offload::run(Function function) {
  using Value = std::invoke_result_t<Function&>;
  struct State {
    explicit State(Function f) : function(std::move(f)) {}
    Function function;
    std::conditional_t<std::is_void_v<Value>, std::monostate, std::optional<Value>> result;
    CallError error;
    bool refused = false;
    WaitingCaller caller;
  };
  const auto state = std::make_shared<State>(std::move(function));
  const auto start = [this, &state](WaitingCaller waiting) {
    state->caller = std::move(waiting);
    const bool accepted = try_submit([shared = state]() mutable {
      try {
        if constexpr (std::is_void_v<Value>) {
          shared->function();
        } else {
          shared->result.emplace(shared->function());
        }
      } catch (...) {
        shared->error = CallError(std::current_exception());
      }
      WaitingCaller caller = std::move(shared->caller);
      shared.reset();  // from here on the caller is its only owner
      resume(std::move(caller));
    });
    if (!accepted) {
      state->refused = true;
      resume(std::move(state->caller));
    }
  };
  co_await until_resumed(start);
  if (state->refused) throw Overloaded(name_);
  state->error.rethrow();
  if constexpr (!std::is_void_v<Value>) co_return std::move(*state->result);
}

}  // namespace sluice
