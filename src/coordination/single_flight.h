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
    std::shared_ptr<Flight> flight;
    const auto found = flights_.find(key);
    if (joined != nullptr) *joined = found != flights_.end();
    if (found != flights_.end()) {
      flight = found->second;
    } else {
      flight = std::make_shared<Flight>(executor_);
      flights_.emplace(key, flight);
      scope_.spawn("flight of " + key, fly(key, flight, work()));
    }
    while (!flight->ended) co_await flight->landed.wait();
    if (flight->error) std::rethrow_exception(flight->error);
    co_return *flight->value;
  }

  size_t under_way() const { return flights_.size(); }

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : landed(executor) {}
    Wakeup landed;
    bool ended = false;
    std::optional<Value> value;
    std::exception_ptr error;
  };

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
