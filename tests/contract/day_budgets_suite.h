// The fixture of day_budgets_contract.cpp, for the engines that run it.
#pragma once

#include "coordination/day_budgets.h"
#include "coordination/day_pace.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// The budgets of an engine, and what only it can tell or do.
class TestedDayBudgets {
 public:
  using DaySpent = coordination::DaySpent;

  virtual ~TestedDayBudgets() = default;
  // As in another process. It lives as long as this.
  virtual coordination::DayBudgets& instance(coordination::LimitPlan plan) = 0;
  // The stored state of a day from which `limit` was taken.
  virtual Task<DaySpent> spent(std::string limit, std::string day) = 0;
  virtual Task<> set_spent(std::string limit, std::string day, DaySpent spent) = 0;
};

class DayBudgetsContract : public PortFixture<TestedDayBudgets> {
 protected:
  using DayBudgets = coordination::DayBudgets;
  using DaySpent = coordination::DaySpent;
  using Plan = coordination::LimitPlan;
  using Taken = Result<coordination::DayChunk, Duration>;
  static constexpr size_t high = 0;
  static constexpr size_t low = 1;

  void SetUp() override {
    PortFixture::SetUp();
    plan_ = {.name = unique("limit"),
             .window = {{"global", 450, 1s}},
             .day = {{.name = "all", .most = 1'000'000, .reserve = 1000, .utc_offset = far_from_midnight()},
                     {.name = "low", .most = 900'000, .utc_offset = far_from_midnight()}},
             .priority = {{.name = "HIGH", .windows = {"global"}, .days = {"all"}, .may_use_reserve = true},
                          {.name = "LOW", .windows = {"global"}, .days = {"all", "low"}}}};
  }

  // An offset by which it is now some hours after midnight: the day does not end during the test.
  static Duration far_from_midnight() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto hour = std::chrono::duration_cast<std::chrono::hours>(now).count() % 24;
    return std::chrono::hours(hour < 12 ? 10 - hour : 22 - hour) - 4h;
  }
  DayBudgets& budgets() { return port().instance(plan_); }
  Taken take(size_t priority, int64_t least, int64_t most) { return run(budgets().take(priority, least, most)); }
  // As if `permits` less had been spent of the day.
  void give_back(const std::string& day, int64_t permits) {
    DaySpent stored = run(port().spent(plan_.name, day));
    stored.permits -= permits;
    run(port().set_spent(plan_.name, day, stored));
  }
  void give_back(int64_t permits) {
    for (const auto& day : plan_.day) give_back(day.name, permits);
  }
  int64_t spent(const std::string& day) { return run(port().spent(plan_.name, day)).permits; }
  void set_spent(const std::string& day, int64_t permits) { give_back(day, spent(day) - permits); }

  Plan plan_;
};

}  // namespace sluice::test
