#include "adapters/sql/coordination/sql_day_budgets.h"

#include "adapters/sql/driver/sql_text.h"
#include "coordination/day_accounts.h"

namespace sluice::sql {
namespace {

using coordination::DayAccounts;
using coordination::DayChunk;
using coordination::DayPace;
using coordination::DaySpent;
using coordination::LimitDay;
using coordination::LimitPlan;
using Plan = std::shared_ptr<const LimitPlan>;

constexpr Statement make_row = R"(
    INSERT INTO day_budgets (limit_name, day_name, day, spent)
    VALUES ($1, $2, 0, 0)
    ON CONFLICT (limit_name, day_name) DO NOTHING)"_sql;
constexpr Statement read_row = "SELECT day, spent FROM day_budgets WHERE limit_name = $1 AND day_name = $2";
constexpr Statement lock_row = R"(
    SELECT day, spent FROM day_budgets
    WHERE limit_name = $1 AND day_name = $2 @lock(FOR UPDATE))"_sql;
constexpr Statement write_row = "UPDATE day_budgets SET day = $3, spent = $4 WHERE limit_name = $1 AND day_name = $2";
// Not now(): that is when the transaction began, before it waited for the rows.
constexpr Statement read_clock = "SELECT @clock"_sql;

// Day 0 is a row that was just made.
std::optional<DaySpent> to_spent(const Rows& rows) {
  if (rows.empty() || rows.one().integer(0) == 0) return std::nullopt;
  return DaySpent{rows.one().integer(0), rows.one().integer(1)};
}

using Stored = std::vector<std::optional<DaySpent>>;

// All callers lock in the order of the plan; while plans differ a deadlock is possible, and is retried.
TxTask<Stored> lock_days(Tx& tx, Plan plan, size_t priority) {
  Stored stored;
  for (const size_t at : plan->days_of(priority)) {
    const LimitDay& day = plan->day[at];
    Rows rows = co_await tx.execute(lock_row, Params(plan->name, day.name));
    if (rows.empty()) {
      co_await tx.execute(make_row, Params(plan->name, day.name));
      rows = co_await tx.execute(lock_row, Params(plan->name, day.name));
    }
    stored.push_back(to_spent(rows));
  }
  co_return stored;
}

TxTask<Result<DayChunk, Duration>> take_body(Tx& tx, Plan plan, size_t priority, int64_t least, int64_t most) {
  const Stored stored = co_await lock_days(tx, plan, priority);
  const Rows clock = co_await tx.execute(read_clock);
  DayAccounts accounts(*plan, priority, stored, clock.one().time(0));
  const Result<DayChunk, Duration> taken = accounts.take(least, most);
  const std::vector<size_t> days = plan->days_of(priority);
  const std::vector<DaySpent> spent = accounts.spent();
  for (size_t i = 0; i < days.size(); ++i) {
    const LimitDay& day = plan->day[days[i]];
    co_await tx.execute(write_row, Params(plan->name, day.name, spent[i].day, spent[i].permits));
  }
  co_return taken;
}

}  // namespace

Task<Result<DayChunk, Duration>> SqlDayBudgets::take(size_t priority, int64_t least, int64_t most) {
  return database_.transact(take_body, plan_, priority, least, most);
}

Task<std::vector<int64_t>> SqlDayBudgets::left() {
  std::vector<int64_t> all;
  for (const LimitDay& day : plan_->day) {
    Params params(plan_->name, day.name);
    const Rows rows = co_await database_.read(read_row, std::move(params));
    const Rows clock = co_await database_.read(read_clock);
    const DayPace pace(day, to_spent(rows), clock.one().time(0));
    all.push_back(pace.left(true));
  }
  co_return all;
}

}  // namespace sluice::sql
