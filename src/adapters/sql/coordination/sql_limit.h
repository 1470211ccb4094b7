// A limit in a row of the database, for deployments without Redis.
//
// The row is locked, then the database's clock is read (in that order: a clock read while waiting for the lock would be
// older than stamps already in the row), the decision is made here and written back. Each draw is a transaction, so a
// few hundred a second pass; one draw may be for many permits. On PostgreSQL the state belongs to one run of the
// server: after a restart or on a promoted standby it counts as spent.
#pragma once

#include <memory>

#include "adapters/sql/driver/database.h"
#include "coordination/shared_limit.h"
#include "runtime/clock.h"

namespace sluice::sql {

// Safe to share between threads. Database and clock must outlive it.
class SqlLimit : public coordination::SharedLimit {
 public:
  SqlLimit(Database& database, coordination::LimitPlan plan, Clock& clock);

  const coordination::LimitPlan& plan() const override { return *plan_; }
  Task<coordination::Drawn> draw(size_t priority, int64_t least, int64_t most) override;
  Task<> deposit(size_t priority, int64_t permits, Duration lasts) override;
  Task<std::vector<int64_t>> remaining() override;

 private:
  Database& database_;
  std::shared_ptr<const coordination::LimitPlan> plan_;
  Clock& clock_;
};

}  // namespace sluice::sql
