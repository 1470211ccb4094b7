#include "lab/arrivals.h"

#include <cmath>

namespace sluice::lab {
namespace {

uint64_t total_of(const Arrivals::Plan& plan) {
  uint64_t total = plan.limit == 0 ? UINT64_MAX : plan.limit;
  if (plan.rate) {
    const double seconds = std::chrono::duration<double>(plan.duration).count();
    total = std::min(total, static_cast<uint64_t>(std::max(0.0, std::ceil(seconds * *plan.rate - plan.phase - 1e-9))));
  }
  return total;
}

}  // namespace

Arrivals::Arrivals(const Plan& plan) : plan_(plan), total_(total_of(plan)) {}

SteadyTime Arrivals::intended(uint64_t i) const {
  const std::chrono::duration<double> after((static_cast<double>(i) + plan_.phase) / *plan_.rate);
  return plan_.start + std::chrono::duration_cast<SteadyClock::duration>(after);
}

std::optional<SteadyTime> Arrivals::due(SteadyTime now) const {
  const std::optional<SteadyTime> at = next(now);
  return at && *at <= now ? at : std::nullopt;
}

std::optional<SteadyTime> Arrivals::next(SteadyTime now) const {
  if (taken_ >= total_) return std::nullopt;
  if (plan_.rate) return intended(taken_);
  if (now >= plan_.start + plan_.duration) return std::nullopt;
  return std::max(now, plan_.start);
}

uint64_t Arrivals::backlog(SteadyTime now) const {
  if (!plan_.rate || now < plan_.start) return 0;
  const double intervals = std::chrono::duration<double>(now - plan_.start).count() * *plan_.rate - plan_.phase;
  const uint64_t due = intervals < 0 ? 0 : std::min(total_, static_cast<uint64_t>(intervals) + 1);
  return due > taken_ ? due - taken_ : 0;
}

}  // namespace sluice::lab
