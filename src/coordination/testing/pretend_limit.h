// A limit of one process in virtual time, that can be made slow or fail.
//
// For testing the rules above it. It passes the contract suite of SharedLimit as real ones do (pretend_ports_test.cpp)
// if nothing is known of it at first; by default it was idle for long, so that a test need not wait for its first
// window. Left out on purpose: it serves one thread.
#pragma once

#include "coordination/limit_state.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::coordination {

class PretendLimit : public SharedLimit {
 public:
  PretendLimit(LimitPlan plan, Clock& clock, Duration known_for = 10s)
      : plan_(std::make_shared<const LimitPlan>(std::move(plan))),
        clock_(clock),
        state_(plan_, stamp() - known_for.count()) {}

  const LimitPlan& plan() const override { return *plan_; }
  Task<Drawn> draw(size_t priority, int64_t least, int64_t most) override {
    ++draws;
    const Instant sent = clock_.now();
    if (down) throw EngineUnavailable("pretended", "down");
    Drawn drawn = state_.decide(priority, least, most, stamp());
    drawn.sent = sent;
    given += drawn.given;
    if (takes > 0us) co_await clock_.sleep_for(takes);
    co_return drawn;
  }
  Task<> deposit(size_t priority, int64_t permits, Duration lasts) override {
    state_.deposit(priority, permits, lasts, stamp());
    co_return;
  }
  Task<std::vector<int64_t>> remaining() override { co_return state_.remaining(stamp()); }

  int draws = 0;
  int64_t given = 0;
  bool down = false;
  Duration takes{0};

 private:
  Stamp stamp() const { return clock_.wall().time_since_epoch().count(); }

  std::shared_ptr<const LimitPlan> plan_;
  Clock& clock_;
  LimitState state_;
};

}  // namespace sluice::coordination
