// Identical work inside one process is done once.
//
// The first caller of a key starts the work in the flight's own scope, so that it goes on when that caller hangs up;
// everybody who asks meanwhile shares its result or its exception. Nothing is remembered afterwards.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <set>
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
    if (joined) wake_at(clock, flight, until);
    while (!flight->ended && (!joined || clock.now() < until)) co_await flight->landed.wait();
    if (!flight->ended) co_return std::nullopt;
    co_return flight->result();
  }

  // Who asks from now on does not share what is under way for `key`: it goes on for those who wait for it already.
  void leave(const std::string& key) { flights_.erase(key); }

  bool under_way(const std::string& key) const { return flights_.contains(key); }
  size_t under_way() const { return flights_.size(); }

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : landed(executor) {}
    Wakeup landed;
    bool ended = false;
    std::optional<Value> value;
    std::exception_ptr error;
    std::set<Instant> alarms;  // when somebody's patience ends
    bool watched = false;

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

  // Thousands who join within moments share a few alarms, rounded up to 50 ms, instead of a timer each.
  void wake_at(Clock& clock, const std::shared_ptr<Flight>& flight, Instant until) {
    using Grains = std::chrono::duration<int64_t, std::ratio<1, 20>>;
    flight->alarms.insert(Instant{std::chrono::ceil<Grains>(until.time_since_epoch())});
    if (std::exchange(flight->watched, true)) return;
    scope_.spawn("patience", watch(clock, flight));
  }

  // Limits come in the order of their callers, so the first alarm is always the next.
  static Task<> watch(Clock& clock, std::shared_ptr<Flight> flight) {
    while (!flight->ended && !flight->alarms.empty()) {
      const Instant next = *flight->alarms.begin();
      co_await clock.sleep_until(next);
      flight->alarms.erase(next);
      flight->landed.notify_all();
    }
    flight->watched = false;
  }

  Task<> fly(std::string key, std::shared_ptr<Flight> flight, Task<Value> work) {
    try {
      flight->value.emplace(co_await std::move(work));
    } catch (...) {
      flight->error = std::current_exception();
    }
    flight->ended = true;
    const auto found = flights_.find(key);
    if (found != flights_.end() && found->second == flight) flights_.erase(found);
    flight->landed.notify_all();
  }

  TaskScope& scope_;
  Executor executor_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace sluice::coordination
