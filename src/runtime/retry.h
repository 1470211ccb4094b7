// Trying again without making things worse.
//
// Delays grow and are fully jittered, so that clients that failed together do not retry together. A retry budget lets
// retries add at most a fifth to the load: when everything fails, almost no call is retried.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/random.h"
#include "runtime/config_fwd.h"
#include "runtime/deadline.h"

namespace sluice {

struct Backoff {
  Duration first = 100ms;
  double factor = 2;
  Duration max = 30s;

  static void describe(config::Section<Backoff>& section);
  void validate(config::Problems& problems) const;

  // Evenly in [0, min(max, first * factor^attempt)]; `attempt` counts from 0.
  Duration delay(unsigned attempt, Random& random) const;
};

// Safe to share between threads.
class RetryBudget {
 public:
  // Every call earns `ratio` of a retry; at most `reserve` are saved up.
  explicit RetryBudget(double ratio = 0.2, double reserve = 10) : ratio_(ratio), reserve_(reserve), saved_(reserve) {}

  void on_call();
  bool take_retry();

 private:
  std::mutex mutex_;
  double ratio_;
  double reserve_;
  double saved_;
};

struct RetryPolicy {
  Clock& clock;
  Random& random;
  RetryBudget& budget;
  unsigned attempts = 3;
  Backoff backoff{};
  Deadline deadline{};
};

// Calls `attempt` until it succeeds, throws something that is not retryable, or attempts, budget or deadline are spent;
// then the last error comes through.
template <class Attempt>
auto retry(RetryPolicy policy, Attempt attempt) -> std::invoke_result_t<Attempt&>;

// A loop that never gives up: runs `round` again and again until it is cancelled. A failing round is logged and counted
// under `name` and followed by a growing delay; the loop contains only its work. Exceptions other than
// EngineUnavailable and EngineRefused pass through.
Task<> run_forever(std::string name, Clock& clock, Random& random, std::function<Task<>()> round, Backoff backoff = {});

template <class Attempt>
auto retry(RetryPolicy policy, Attempt attempt) -> std::invoke_result_t<Attempt&> {
  policy.budget.on_call();
  for (unsigned tried = 0;; ++tried) {
    Duration delay{0};
    try {
      co_return co_await attempt();
    } catch (const EngineUnavailable& error) {
      if (!error.retryable() || tried + 1 >= policy.attempts || !policy.budget.take_retry()) throw;
      delay = policy.backoff.delay(tried, policy.random);
      if (policy.clock.now() + delay >= policy.deadline.at) throw;
    }
    co_await policy.clock.sleep_for(delay);
  }
}

}  // namespace sluice
