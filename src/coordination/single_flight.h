// Identical work inside one process is done once.
//
// The first caller of a key starts the work in the flight's own scope, so that it continues when that caller
// disconnects; all callers meanwhile, on any thread, share its result or get its exception. Nothing is remembered
// afterwards. Callers wait on their own threads (coordination/crowd.h), so that a crowd does not delay the work it
// waits for.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include <boost/asio/dispatch.hpp>

#include "coordination/crowd.h"
#include "runtime/task_scope.h"
#include "runtime/waiting_caller.h"

namespace sluice::coordination {

// All methods may be called from any thread. `Value` is copied to every caller: make it a shared pointer where it is
// large.
template <class Value>
class SingleFlight {
 public:
  // The work runs on `executor`, which `scope` belongs to.
  SingleFlight(TaskScope& scope, Executor executor) : scope_(scope), executor_(std::move(executor)) {}

  // Runs `work()` unless it is running for `key`. `joined` tells whether the caller shares another's flight.
  template <class Work>
  Task<Value> run(std::string key, Work work, bool* joined = nullptr) {
    const Executor here = co_await asio::this_coro::executor;
    bool shares = false;
    const std::shared_ptr<Flight> flight = board(key, work, shares);
    if (joined != nullptr) *joined = shares;
    const std::shared_ptr<Crowd::Party> party = flight->crowd.join(here);
    while (party && !party->over) co_await party->told.wait();
    co_return flight->result();
  }

  // The same for a caller with limited patience: nothing once `until` has passed. The work goes on.
  template <class Work>
  Task<std::optional<Value>> run_until(Clock& clock, Instant until, std::string key, Work work, bool& joined) {
    const Executor here = co_await asio::this_coro::executor;
    const std::shared_ptr<Flight> flight = board(key, work, joined);
    if (until != Instant::max()) wake_at(clock, flight, until);
    const std::shared_ptr<Crowd::Party> party = flight->crowd.join(here);
    while (party && !party->over && clock.now() < until) co_await party->told.wait();
    if (party && !party->over) co_return std::nullopt;
    co_return flight->result();
  }

  // Later callers do not share the current flight of `key`; it continues for those that wait for it already.
  void leave(const std::string& key) {
    const std::lock_guard lock(mutex_);
    flights_.erase(key);
  }

  bool under_way(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return flights_.contains(key);
  }
  size_t under_way() const {
    const std::lock_guard lock(mutex_);
    return flights_.size();
  }

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : changed(executor) {}
    Crowd crowd;
    std::optional<Value> value;  // this and the error are written before the crowd's end, and never again
    std::exception_ptr error;
    Wakeup changed;            // on the executor: it has landed, or there is an earlier alarm
    std::set<Instant> alarms;  // deadlines of callers
    bool watched = false;

    const Value& result() const {
      if (error) throw_copy(error);
      return *value;
    }
  };

  template <class Work>
  std::shared_ptr<Flight> board(const std::string& key, Work& work, bool& joined) {
    std::shared_ptr<Flight> flight;
    {
      const std::lock_guard lock(mutex_);
      std::shared_ptr<Flight>& known = flights_[key];
      joined = known != nullptr;
      if (!joined) known = std::make_shared<Flight>(executor_);
      flight = known;
    }
    if (!joined) launch(key, flight, work());
    return flight;
  }

  void launch(const std::string& key, const std::shared_ptr<Flight>& flight, Task<Value> work) {
    asio::dispatch(executor_, [this, key, flight, work = std::move(work)]() mutable {
      if (!scope_.closed()) return scope_.spawn("flight of " + key, fly(key, flight, std::move(work)));
      flight->error = std::make_exception_ptr(boost::system::system_error(asio::error::operation_aborted));
      land(key, *flight);
    });
  }

  Task<> fly(std::string key, std::shared_ptr<Flight> flight, Task<Value> work) {
    try {
      flight->value.emplace(co_await std::move(work));
    } catch (...) {
      flight->error = std::current_exception();
    }
    land(key, *flight);
  }

  void land(const std::string& key, Flight& flight) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = flights_.find(key);
      if (found != flights_.end() && found->second.get() == &flight) flights_.erase(found);
    }
    flight.crowd.end();
    flight.changed.notify_all();
  }

  // Thousands of callers that join within moments share a few alarms, rounded up to 50 ms, instead of a timer each.
  void wake_at(Clock& clock, const std::shared_ptr<Flight>& flight, Instant until) {
    using Grains = std::chrono::duration<int64_t, std::ratio<1, 20>>;
    const Instant alarm{std::chrono::ceil<Grains>(until.time_since_epoch())};
    bool watched = false;
    {
      const std::lock_guard lock(mutex_);
      const bool is_next = flight->alarms.empty() || alarm < *flight->alarms.begin();
      flight->alarms.insert(alarm);
      watched = std::exchange(flight->watched, true);
      if (watched && !is_next) return;
    }
    asio::dispatch(executor_, [this, &clock, flight, watched] {
      if (watched) return flight->changed.notify_all();
      if (!scope_.closed()) scope_.spawn("patience", watch(clock, flight));
    });
  }

  Task<> watch(Clock& clock, std::shared_ptr<Flight> flight) {
    while (const std::optional<Instant> next = next_alarm(*flight)) {
      if (flight->crowd.over()) co_return;
      if (clock.now() < *next) {
        co_await flight->changed.wait_until(clock, *next);
      } else {
        drop_alarm(*flight, *next);
        flight->crowd.stir();
      }
    }
  }

  std::optional<Instant> next_alarm(Flight& flight) {
    const std::lock_guard lock(mutex_);
    flight.watched = !flight.alarms.empty();
    if (!flight.watched) return std::nullopt;
    return *flight.alarms.begin();
  }

  void drop_alarm(Flight& flight, Instant alarm) {
    const std::lock_guard lock(mutex_);
    flight.alarms.erase(alarm);
  }

  TaskScope& scope_;
  Executor executor_;
  mutable std::mutex mutex_;  // guards the flights, and the alarms of each
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace sluice::coordination
