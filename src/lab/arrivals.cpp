#include "lab/arrivals.h"

#include <cmath>

namespace sluice::lab {
namespace {

// How many intervals of the schedule have passed; nothing in a closed loop.
std::optional<double> planned_until(const Arrivals::Plan& plan, std::chrono::duration<double> after) {
  if (!plan.ramp.empty()) return plan.ramp.count_at(after);
  if (plan.rate) return after.count() * *plan.rate;
  return std::nullopt;
}

uint64_t total_of(const Arrivals::Plan& plan) {
  uint64_t total = plan.limit == 0 ? UINT64_MAX : plan.limit;
  if (const auto planned = planned_until(plan, plan.duration)) {
    total = std::min(total, static_cast<uint64_t>(std::max(0.0, std::ceil(*planned - plan.phase - 1e-9))));
  }
  return total;
}

}  // namespace

Arrivals::Arrivals(const Plan& plan) : plan_(plan), total_(total_of(plan)) {}

SteadyTime Arrivals::intended(uint64_t i) const {
  const double count = static_cast<double>(i) + plan_.phase;
  const std::chrono::duration<double> after =
      plan_.ramp.empty() ? std::chrono::duration<double>(count / *plan_.rate) : plan_.ramp.time_of(count);
  return plan_.start + std::chrono::duration_cast<SteadyClock::duration>(after);
}

std::optional<SteadyTime> Arrivals::due(SteadyTime now) const {
  const std::optional<SteadyTime> at = next(now);
  return at && *at <= now ? at : std::nullopt;
}

std::optional<SteadyTime> Arrivals::next(SteadyTime now) const {
  if (taken_ >= total_) return std::nullopt;
  if (is_open()) return intended(taken_);
  if (now >= plan_.start + plan_.duration) return std::nullopt;
  return std::max(now, plan_.start);
}

uint64_t Arrivals::backlog(SteadyTime now) const {
  if (!is_open() || now < plan_.start) return 0;
  const double intervals = *planned_until(plan_, now - plan_.start) - plan_.phase;
  const uint64_t due = intervals < 0 ? 0 : std::min(total_, static_cast<uint64_t>(intervals) + 1);
  return due > taken_ ? due - taken_ : 0;
}

}  // namespace sluice::lab
