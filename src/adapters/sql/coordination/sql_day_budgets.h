// Day budgets in SQL: one row per limit and day, with the day and the permits spent.
#pragma once

#include <memory>

#include "adapters/sql/driver/database.h"
#include "coordination/day_budgets.h"

namespace sluice::sql {

// Safe to share between threads. The database must outlive it.
class SqlDayBudgets : public coordination::DayBudgets {
 public:
  SqlDayBudgets(Database& database, coordination::LimitPlan plan)
      : database_(database), plan_(std::make_shared<const coordination::LimitPlan>(std::move(plan))) {}

  Task<Result<coordination::DayChunk, Duration>> take(size_t priority, int64_t least, int64_t most) override;
  Task<std::vector<int64_t>> left() override;

 private:
  Database& database_;
  std::shared_ptr<const coordination::LimitPlan> plan_;
};

}  // namespace sluice::sql
