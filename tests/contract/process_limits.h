// Limits of an engine inside the process, whose instances share one object.
#pragma once

#include <map>

#include "runtime/system_clock.h"
#include "tests/contract/shared_limit_suite.h"

namespace sluice::test {

class ProcessLimits : public OpenLimits {
 public:
  using Limit = std::unique_ptr<coordination::SharedLimit>;
  using Make = Limit (*)(coordination::LimitPlan plan, Clock& clock);

  explicit ProcessLimits(Make make) : make_(make) {}

  coordination::SharedLimit& instance(coordination::LimitPlan plan) override {
    Limit& limit = limits_[name_of(plan)];
    if (!limit) limit = make_(std::move(plan), clock_);
    return *limit;
  }
  Task<> lose(coordination::LimitPlan plan) override {
    limits_.erase(name_of(plan));
    co_return;
  }

 private:
  using Name = std::pair<std::string, int64_t>;
  static Name name_of(const coordination::LimitPlan& plan) { return {plan.name, plan.window.back().most}; }

  Make make_;
  SystemClock clock_;
  std::map<Name, Limit> limits_;
};

}  // namespace sluice::test
