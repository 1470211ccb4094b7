#include "runtime/retry.h"

#include <algorithm>
#include <cmath>

#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice {
namespace {
const metrics::Counter loop_failures{"loop_failures_total", "Failed rounds of a background loop.", {"loop"}};
}

Duration Backoff::delay(unsigned attempt, Random& random) const {
  const double grown = static_cast<double>(first.count()) * std::pow(factor, attempt);
  const auto limit = static_cast<uint64_t>(std::min(grown, static_cast<double>(max.count())));
  return Duration{static_cast<int64_t>(random.below(limit + 1))};
}

void RetryBudget::on_call() {
  const std::lock_guard lock(mutex_);
  saved_ = std::min(reserve_, saved_ + ratio_);
}

bool RetryBudget::take_retry() {
  const std::lock_guard lock(mutex_);
  if (saved_ < 1) return false;
  saved_ -= 1;
  return true;
}

Task<> run_forever(std::string name, Clock& clock, Random& random, std::function<Task<>()> round, Backoff backoff) {
  unsigned failed = 0;
  while (true) {
    Duration delay{0};
    try {
      co_await round();
      failed = 0;
    } catch (const EngineUnavailable& error) {
      delay = backoff.delay(failed++, random);
      loop_failures.with({name}).add();
      log::warning("background loop failed", {{"loop", name}, {"error", error.what()}, {"retry_in_us", delay.count()}});
    } catch (const EngineRefused& error) {
      delay = backoff.delay(failed++, random);
      loop_failures.with({name}).add();
      log::error("background loop was refused by its engine", {{"loop", name}, {"error", error.what()}});
    }
    if (delay > Duration{0}) co_await clock.sleep_for(delay);
  }
}

}  // namespace sluice
