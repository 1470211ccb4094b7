#include "adapters/sql/coordination/sql_shared_breaker.h"

#include <bit>

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using coordination::BreakerPermit;
using coordination::BreakerState;

// One row: the last outcomes as bits (1 is a failure), how many there are, until when it is open (0 is closed), for how
// long it opened last, how many trials went well, until when a trial is out, and the period that permits carry. Times
// are microseconds of the database's clock in both engines.
struct BreakerRow {
  int64_t outcomes = 0;
  int64_t seen = 0;
  int64_t open_until = 0;
  int64_t open_for = 0;
  int64_t trials_good = 0;
  int64_t trial_until = 0;
  int64_t period = 0;
  int64_t now = 0;

  bool closed() const { return open_until == 0; }
};

constexpr Statement make_row = "INSERT INTO breakers (key) VALUES ($1) ON CONFLICT (key) DO NOTHING";
constexpr Statement lock_row = R"(
    SELECT outcomes, seen, open_until, open_for, trials_good, trial_until, period, @now_us
    FROM breakers WHERE key = $1 @lock(FOR UPDATE))"_sql;
constexpr Statement read_row = R"(
    SELECT outcomes, seen, open_until, open_for, trials_good, trial_until, period, @now_us
    FROM breakers WHERE key = $1)"_sql;
constexpr Statement write_row = R"(
    UPDATE breakers SET outcomes = $2, seen = $3, open_until = $4, open_for = $5, trials_good = $6,
      trial_until = $7, period = $8
    WHERE key = $1)"_sql;

BreakerRow to_row(const Row& row) {
  return {row.integer(0), row.integer(1), row.integer(2), row.integer(3),
          row.integer(4), row.integer(5), row.integer(6), row.integer(7)};
}

void open(BreakerRow& row, const BreakerConfig& config) {
  const bool again = !row.closed();
  const auto grown = static_cast<int64_t>(static_cast<double>(row.open_for) * config.growth);
  row.open_for = again ? std::min(grown, config.open_max.count()) : config.open_for.count();
  row.open_until = row.now + row.open_for;
  row.trials_good = 0;
  row.trial_until = 0;
  ++row.period;
}

void note_trial(BreakerRow& row, const BreakerConfig& config, bool success) {
  if (row.trial_until == 0) return;
  row.trial_until = 0;
  if (!success) return open(row, config);
  if (++row.trials_good >= config.trial_calls) row = {.period = row.period + 1, .now = row.now};
}

void note(BreakerRow& row, const BreakerConfig& config, bool success) {
  if (!row.closed()) return note_trial(row, config, success);
  const int64_t mask = (int64_t{1} << config.window) - 1;
  row.outcomes = (row.outcomes << 1 | (success ? 0 : 1)) & mask;
  row.seen = std::min<int64_t>(row.seen + 1, config.window);
  const int failed = std::popcount(static_cast<uint64_t>(row.outcomes));
  if (row.seen == config.window && failed >= config.failure_ratio * config.window) open(row, config);
}

TxTask<BreakerRow> lock(Tx& tx, std::string key) {
  Rows rows = co_await tx.execute(lock_row, Params(key));
  if (rows.empty()) {
    co_await tx.execute(make_row, Params(key));
    rows = co_await tx.execute(lock_row, Params(key));
  }
  co_return to_row(rows.one());
}

TxTask<> save(Tx& tx, std::string key, BreakerRow row) {
  co_await tx.execute(write_row, Params(key, row.outcomes, row.seen, row.open_until, row.open_for, row.trials_good,
                                        row.trial_until, row.period));
}

TxTask<Result<BreakerPermit, Duration>> ask_body(Tx& tx, std::string key, Duration trial_ttl) {
  BreakerRow row = co_await lock(tx, key);
  if (row.closed()) co_return BreakerPermit{row.period};
  if (row.open_until > row.now) co_return Duration{row.open_until - row.now};
  if (row.trial_until > row.now) co_return Duration{row.trial_until - row.now};
  row.trial_until = row.now + trial_ttl.count();
  ++row.period;
  co_await save(tx, key, row);
  co_return BreakerPermit{row.period};
}

TxTask<> record_body(Tx& tx, std::string key, BreakerPermit permit, bool success, BreakerConfig config) {
  BreakerRow row = co_await lock(tx, key);
  if (row.period != permit.period) co_return;
  note(row, config, success);
  co_await save(tx, key, row);
}

TxTask<> forget_body(Tx& tx, std::string key, BreakerPermit permit) {
  BreakerRow row = co_await lock(tx, key);
  if (row.period != permit.period || row.closed()) co_return;
  row.trial_until = 0;
  co_await save(tx, key, row);
}

}  // namespace

SqlSharedBreaker::SqlSharedBreaker(Database& database, BreakerConfig config) : database_(database), config_(config) {
  check_that(config.window >= 1 && config.window <= 62, "a shared breaker's window must be 1 to 62, not {}",
             config.window);
}

Task<Result<BreakerPermit, Duration>> SqlSharedBreaker::ask(std::string key, Duration trial_ttl) {
  return database_.transact(ask_body, std::move(key), trial_ttl);
}

Task<> SqlSharedBreaker::record(std::string key, BreakerPermit permit, bool success) {
  return database_.transact(record_body, std::move(key), permit, success, config_);
}

Task<> SqlSharedBreaker::forget(std::string key, BreakerPermit permit) {
  return database_.transact(forget_body, std::move(key), permit);
}

Task<BreakerState> SqlSharedBreaker::state(std::string key) {
  Params params(key);
  const Rows rows = co_await database_.read(read_row, std::move(params));
  if (rows.empty()) co_return BreakerState{};
  const BreakerRow row = to_row(rows.one());
  if (row.closed()) co_return BreakerState{};
  if (row.open_until > row.now) co_return BreakerState{CircuitBreaker::State::open, Duration{row.open_until - row.now}};
  co_return BreakerState{CircuitBreaker::State::half_open, Duration{0}};
}

}  // namespace sluice::sql
