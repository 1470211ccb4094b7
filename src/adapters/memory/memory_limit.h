// A limit of one process.
//
// Nothing is kept beyond the process: a restart counts as spent, which costs one window.
#pragma once

#include <mutex>

#include "coordination/limit_state.h"
#include "runtime/clock.h"

namespace sluice::memory {

// Safe to share between threads. The clock must outlive it.
class MemoryLimit : public coordination::SharedLimit {
 public:
  MemoryLimit(coordination::LimitPlan plan, Clock& clock);

  const coordination::LimitPlan& plan() const override { return *plan_; }
  Task<coordination::Drawn> draw(size_t priority, int64_t least, int64_t most) override;
  Task<> deposit(size_t priority, int64_t permits, Duration lasts) override;
  Task<std::vector<int64_t>> remaining() override;

 private:
  coordination::Stamp stamp() const;

  const std::shared_ptr<const coordination::LimitPlan> plan_;
  Clock& clock_;
  std::mutex mutex_;
  coordination::LimitState state_;  // guarded by mutex_
};

}  // namespace sluice::memory
