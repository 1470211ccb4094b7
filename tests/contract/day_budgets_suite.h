// The fixture of day_budgets_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/coordination/sql_day_budgets.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class DayBudgetsContract : public DatabaseFixture {
 protected:
  using Plan = coordination::LimitPlan;
  using Taken = Result<coordination::DayChunk, Duration>;
  static constexpr size_t high = 0;
  static constexpr size_t low = 1;

  void SetUp() override {
    DatabaseFixture::SetUp();
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
  sql::SqlDayBudgets budgets() { return {database(), plan_}; }
  Taken take(size_t priority, int64_t least, int64_t most) {
    sql::SqlDayBudgets all = budgets();
    return run(all.take(priority, least, most));
  }
  // As if `permits` less had been spent, of every day.
  void give_back(int64_t permits) {
    sql::Params params(plan_.name, permits);
    run(database().write("UPDATE day_budgets SET spent = spent - $2 WHERE limit_name = $1", std::move(params)));
  }
  int64_t spent(const std::string& day) {
    sql::Params params(plan_.name, day);
    const auto rows = run(
        database().read("SELECT spent FROM day_budgets WHERE limit_name = $1 AND day_name = $2", std::move(params)));
    return rows.one().integer(0);
  }

  Plan plan_;
};

}  // namespace sluice::test
