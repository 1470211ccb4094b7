// The days of limits in a database, for the contract suite.
#pragma once

#include "adapters/sql/coordination/sql_day_budgets.h"
#include "tests/contract/day_budgets_suite.h"
#include "tests/contract/sql_ports.h"

namespace sluice::test {

class SqlTestedDayBudgets : public TestedDayBudgets {
 public:
  explicit SqlTestedDayBudgets(sql::Database& database) : database_(database) {}

  coordination::DayBudgets& instance(coordination::LimitPlan plan) override {
    budgets_.push_back(std::make_unique<sql::SqlDayBudgets>(database_, std::move(plan)));
    return *budgets_.back();
  }
  Task<DaySpent> spent(std::string limit, std::string day) override {
    sql::Params params(limit, day);
    const sql::Rows rows = co_await database_.read(
        "SELECT day, spent FROM day_budgets WHERE limit_name = $1 AND day_name = $2", std::move(params));
    co_return DaySpent{rows.one().integer(0), rows.one().integer(1)};
  }
  Task<> set_spent(std::string limit, std::string day, DaySpent spent) override {
    sql::Params params(limit, day, spent.day, spent.permits);
    co_await database_.write("UPDATE day_budgets SET day = $3, spent = $4 WHERE limit_name = $1 AND day_name = $2",
                             std::move(params));
  }

 private:
  sql::Database& database_;
  std::vector<std::unique_ptr<sql::SqlDayBudgets>> budgets_;
};

inline std::vector<PortEngine<TestedDayBudgets>> day_budgets_in_sql(const std::vector<DatabaseEngine>& databases) {
  return in_sql<TestedDayBudgets, SqlTestedDayBudgets>(databases);
}

}  // namespace sluice::test
