#include "adapters/memory/memory_limit.h"

namespace sluice::memory {

using coordination::Drawn;
using coordination::Stamp;

MemoryLimit::MemoryLimit(coordination::LimitPlan plan, Clock& clock)
    : plan_(std::make_shared<const coordination::LimitPlan>(std::move(plan))), clock_(clock), state_(plan_, stamp()) {}

Stamp MemoryLimit::stamp() const {
  return std::chrono::floor<Duration>(clock_.now().time_since_epoch()).count();
}

// The clock is read under the lock: stamps must not fall from one decision to the next.
Task<Drawn> MemoryLimit::draw(size_t priority, int64_t least, int64_t most) {
  const std::scoped_lock lock(mutex_);
  const Instant now = clock_.now();
  Drawn drawn = state_.decide(priority, least, most, stamp());
  drawn.sent = now;
  co_return drawn;
}

Task<> MemoryLimit::deposit(size_t priority, int64_t permits, Duration lasts) {
  const std::scoped_lock lock(mutex_);
  state_.deposit(priority, permits, lasts, stamp());
  co_return;
}

Task<std::vector<int64_t>> MemoryLimit::remaining() {
  const std::scoped_lock lock(mutex_);
  co_return state_.remaining(stamp());
}

}  // namespace sluice::memory
