// Queues the callers of a process for permits.
//
//   Result<Permit, Duration> permit = co_await limiter.acquire(priority, deadline);
//   if (!permit) ...                        // try again in permit.error()
//   if (!permit->good(clock)) ...           // just before the wire: too late, acquire another
//
// Callers of a priority are served in order of arrival, and only while no better priority waits. One draw at a time
// requests permits for all callers at the front; if there are none, it asks again exactly when it was told to. A caller
// that cannot be served before its deadline is refused at once. Permits that arrive too late to be used are discarded
// (they stay spent) and drawn again, one at a time until one arrives in time: a slow engine must not use up the window
// and the day for nothing.
//
// Where the plan has days, the limiter keeps their credit filled: it takes the next chunk before the last is used up.
// No credit, no engine, no permit: callers then get EngineUnavailable.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "coordination/day_budgets.h"
#include "coordination/shared_limit.h"
#include "runtime/deadline.h"
#include "runtime/metrics.h"
#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::coordination {

// Leave to send one request, now.
struct Permit {
  Instant good_until{};
  bool good(const Clock& clock) const { return clock.now() < good_until; }
};

// Belongs to one executor.
class Limiter {
 public:
  // The given objects must outlive it. `days` may be null if the plan has none.
  struct Parts {
    SharedLimit& limit;
    DayBudgets* days;
    Clock& clock;
    Random& random;
  };
  static constexpr size_t default_most_waiting = 10'000;

  Limiter(Parts parts, const Executor& executor, size_t most_waiting = default_most_waiting);

  // Serves callers for as long as the scope lasts; called once.
  void start(TaskScope& scope);

  // A permit before the deadline, or how long to wait before asking again. Throws Overloaded where too many wait
  // already, EngineUnavailable where the engine fails.
  Task<Result<Permit, Duration>> acquire(size_t priority, Deadline deadline);
  // The same without waiting for a window: one question to the engine, at most.
  Task<Result<Permit, Duration>> try_acquire(size_t priority);

  size_t waiting() const;
  const LimitPlan& plan() const { return limit_.plan(); }

 private:
  struct Caller {
    Caller(const Executor& executor, Instant until_) : settled(executor), until(until_) {}
    Wakeup settled;
    Instant until;  // refused if it cannot be served by then
    std::optional<Permit> permit;
    std::optional<Duration> refused;
    std::exception_ptr error;
    bool is_settled() const { return permit || refused || error; }
  };
  struct Line {
    std::deque<std::shared_ptr<Caller>> callers;
    bool has_days = false;
    bool taking_chunk = false;
    Instant next_chunk{};  // no chunk can be had before
    std::exception_ptr chunk_error;
    int64_t chunk = 1;  // about a second's share of the day
    metrics::CounterCell& acquired;
    metrics::CounterCell& rejected;
    metrics::CounterCell& thrown_away;
  };

  Line make_line(size_t priority) const;
  Task<Result<Permit, Duration>> join(size_t priority, Instant until);
  Result<Permit, Duration> outcome(size_t priority, const Caller& caller);
  void leave(size_t priority, const std::shared_ptr<Caller>& caller);
  // The best priority with waiting callers.
  std::optional<size_t> next_line() const;
  // How long no caller of this priority can be served, as far as is known.
  Duration blocked_for(size_t priority) const;

  Task<> serve_loop();
  Task<> serve(size_t priority);
  void hand_out(size_t priority, const Drawn& drawn);
  Task<> wait_until(size_t priority, Instant when);
  Task<> wait_for_credit(size_t priority);
  // Refuses callers in this line and all behind it that cannot be served at `when`.
  void refuse_overdue(size_t first, Instant when);
  void fail(size_t priority, const std::exception_ptr& error);

  void take_chunk_if_low(size_t priority, int64_t credit);
  Task<> take_chunk(size_t priority);
  Task<> deposit_chunk(size_t priority);

  Task<> show_loop();
  Task<> show_round();

  SharedLimit& limit_;
  DayBudgets* days_;
  Clock& clock_;
  Random& random_;
  Executor executor_;
  size_t most_waiting_;
  TaskScope* scope_ = nullptr;
  std::vector<Line> lines_;  // one for each priority
  Wakeup changed_;
  size_t blocked_line_ = 0;  // it and all behind it are blocked...
  Instant blocked_until_{};  // ...until then
  bool slow_ = false;        // the last permits came too late
  int64_t given_ = 0;        // since the gauges were set
  Instant shown_at_{};
};

}  // namespace sluice::coordination
