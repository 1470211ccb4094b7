// Identical work inside one process is done once.
//
// The first caller of a key starts the work in the flight's own scope, so that it goes on when that caller hangs up;
// everybody who asks meanwhile shares its result or its exception. Nothing is remembered afterwards.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::coordination {

// Belongs to one executor. `Value` is copied to every caller: make it a shared pointer where it is large.
template <class Value>
class SingleFlight {
 public:
  SingleFlight(TaskScope& scope, Executor executor) : scope_(scope), executor_(std::move(executor)) {}

  // Runs `work()` unless it is under way for `key`. `joined` tells whether the caller shares somebody else's.
  template <class Work>
  Task<Value> run(std::string key, Work work, bool* joined = nullptr) {
    const std::shared_ptr<Flight> flight = board(key, work, joined);
    while (!flight->ended) co_await flight->landed.wait();
    co_return flight->result();
  }

  // The same for a caller with limited patience: nothing once `until` has passed, unless the caller's own call started
  // the work.
  template <class Work>
  Task<std::optional<Value>> run_until(Clock& clock, Instant until, std::string key, Work work, bool& joined) {
    const std::shared_ptr<Flight> flight = board(key, work, &joined);
    while (!flight->ended && (!joined || clock.now() < until)) {
      co_await flight->landed.wait_until(clock, joined ? until : Instant::max());
    }
    if (!flight->ended) co_return std::nullopt;
    co_return flight->result();
  }

  size_t under_way() const { return flights_.size(); }

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : landed(executor) {}
    Wakeup landed;
    bool ended = false;
    std::optional<Value> value;
    std::exception_ptr error;

    const Value& result() const {
      if (error) std::rethrow_exception(error);
      return *value;
    }
  };

  template <class Work>
  std::shared_ptr<Flight> board(const std::string& key, Work& work, bool* joined) {
    const auto found = flights_.find(key);
    if (joined != nullptr) *joined = found != flights_.end();
    if (found != flights_.end()) return found->second;
    const auto flight = std::make_shared<Flight>(executor_);
    flights_.emplace(key, flight);
    scope_.spawn("flight of " + key, fly(key, flight, work()));
    return flight;
  }

  Task<> fly(std::string key, std::shared_ptr<Flight> flight, Task<Value> work) {
    try {
      flight->value.emplace(co_await std::move(work));
    } catch (...) {
      flight->error = std::current_exception();
    }
    flight->ended = true;
    flights_.erase(key);
    flight->landed.notify_all();
  }

  TaskScope& scope_;
  Executor executor_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace sluice::coordination
