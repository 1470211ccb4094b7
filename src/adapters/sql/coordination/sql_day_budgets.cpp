#include "adapters/sql/coordination/sql_day_budgets.h"

#include <algorithm>

#include "adapters/sql/driver/sql_text.h"
#include "coordination/day_pace.h"

namespace sluice::sql {
namespace {

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

// The days of a priority as they stand now.
struct Accounts {
  std::vector<const LimitDay*> days;
  std::vector<DayPace> paces;
  bool may_use_reserve = false;

  int64_t room() const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const DayPace& pace : paces) least = std::min(least, pace.room(may_use_reserve));
    return least;
  }
  int64_t left() const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const DayPace& pace : paces) least = std::min(least, pace.left(may_use_reserve));
    return least;
  }
  Duration wait_for(int64_t permits) const {
    Duration longest{0};
    for (const DayPace& pace : paces) longest = std::max(longest, pace.wait_for(permits, may_use_reserve));
    return longest;
  }
  Duration rest() const {
    Duration shortest = Duration::max();
    for (const DayPace& pace : paces) shortest = std::min(shortest, pace.rest());
    return shortest;
  }
};

// All callers lock in the order of the plan; while plans differ a deadlock is possible, and is retried.
TxTask<Accounts> lock_accounts(Tx& tx, Plan plan, size_t priority) {
  Accounts accounts;
  accounts.may_use_reserve = plan->priority[priority].may_use_reserve;
  std::vector<std::optional<DaySpent>> spent;
  for (const size_t at : plan->days_of(priority)) {
    const LimitDay& day = plan->day[at];
    Rows rows = co_await tx.execute(lock_row, Params(plan->name, day.name));
    if (rows.empty()) {
      co_await tx.execute(make_row, Params(plan->name, day.name));
      rows = co_await tx.execute(lock_row, Params(plan->name, day.name));
    }
    accounts.days.push_back(&day);
    spent.push_back(to_spent(rows));
  }
  const Rows clock = co_await tx.execute(read_clock);
  const Time now = clock.one().time(0);
  for (size_t i = 0; i < spent.size(); ++i) accounts.paces.emplace_back(*accounts.days[i], spent[i], now);
  co_return accounts;
}

TxTask<Result<DayChunk, Duration>> take_body(Tx& tx, Plan plan, size_t priority, int64_t least, int64_t most) {
  Accounts accounts = co_await lock_accounts(tx, plan, priority);
  const int64_t enough = std::clamp<int64_t>(accounts.left(), 1, least);
  const int64_t given = std::min(most, accounts.room());
  // Written also when nothing is given: what counts as spent at the first sight of a day must be remembered.
  for (size_t i = 0; i < accounts.days.size(); ++i) {
    if (given >= enough) accounts.paces[i].take(given);
    const DaySpent& spent = accounts.paces[i].spent();
    co_await tx.execute(write_row, Params(plan->name, accounts.days[i]->name, spent.day, spent.permits));
  }
  if (given >= enough) co_return DayChunk{given, accounts.rest()};
  co_return accounts.wait_for(enough);
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
