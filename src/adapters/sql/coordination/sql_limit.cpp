#include "adapters/sql/coordination/sql_limit.h"

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"
#include "coordination/limit_state.h"

namespace sluice::sql {
namespace {

using coordination::Drawn;
using coordination::LimitPlan;
using coordination::LimitState;
using coordination::Stamp;
using Plan = std::shared_ptr<const LimitPlan>;

constexpr Statement make_row = "INSERT INTO limits (name, state) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
constexpr Statement read_row = "SELECT state FROM limits WHERE name = $1";
constexpr Statement lock_row = "SELECT state FROM limits WHERE name = $1 @lock(FOR UPDATE)"_sql;
constexpr Statement write_row = "UPDATE limits SET state = $2 WHERE name = $1";
// The clock, and which run of the server wrote the state. The embedded file is written by one process at a time, and
// what it acknowledged is in it: its state never grows old.
constexpr Statement read_clock = R"(
    SELECT @clock_us,
      @postgres((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint) @sqlite(0))"_sql;

struct Moment {
  Stamp now = 0;
  int64_t run = 0;
  Instant asked{};
};

TxTask<Bytes> lock(Tx& tx, std::string name) {
  Rows rows = co_await tx.execute(lock_row, Params(name));
  if (rows.empty()) {
    co_await tx.execute(make_row, Params(name, Bytes{}));
    rows = co_await tx.execute(lock_row, Params(name));
  }
  co_return rows.one().bytes(0);
}

TxTask<Moment> look_at_clock(Tx& tx, Clock* clock) {
  const Instant asked = clock->now();
  const Rows rows = co_await tx.execute(read_clock);
  co_return Moment{rows.one().integer(0), rows.one().integer(1), asked};
}

TxTask<> save(Tx& tx, std::string name, Bytes state) {
  co_await tx.execute(write_row, Params(name, std::move(state)));
}

TxTask<Drawn> draw_body(Tx& tx, Plan plan, size_t priority, int64_t least, int64_t most, Clock* clock) {
  const Bytes before = co_await lock(tx, plan->name);
  const Moment moment = co_await look_at_clock(tx, clock);
  LimitState state(plan, moment.now, before, moment.run);
  Drawn drawn = state.decide(priority, least, most, moment.now);
  drawn.sent = moment.asked;
  // A refusal, too, may have found state that counts as spent; that must be remembered.
  Bytes after = state.save(moment.run);
  if (after != before) co_await save(tx, plan->name, std::move(after));
  co_return drawn;
}

TxTask<> deposit_body(Tx& tx, Plan plan, size_t priority, int64_t permits, Duration lasts, Clock* clock) {
  const Bytes before = co_await lock(tx, plan->name);
  const Moment moment = co_await look_at_clock(tx, clock);
  LimitState state(plan, moment.now, before, moment.run);
  state.deposit(priority, permits, lasts, moment.now);
  co_await save(tx, plan->name, state.save(moment.run));
}

}  // namespace

SqlLimit::SqlLimit(Database& database, LimitPlan plan, Clock& clock)
    : database_(database), plan_(std::make_shared<const LimitPlan>(std::move(plan))), clock_(clock) {}

Task<Drawn> SqlLimit::draw(size_t priority, int64_t least, int64_t most) {
  return database_.transact(draw_body, plan_, priority, least, most, &clock_);
}

Task<> SqlLimit::deposit(size_t priority, int64_t permits, Duration lasts) {
  return database_.transact(deposit_body, plan_, priority, permits, lasts, &clock_);
}

Task<std::vector<int64_t>> SqlLimit::remaining() {
  Params params(plan_->name);
  const Rows rows = co_await database_.read(read_row, std::move(params));
  const Rows clock = co_await database_.read(read_clock);
  const Stamp now = clock.one().integer(0);
  const Bytes bytes = rows.empty() ? Bytes{} : rows.one().bytes(0);
  LimitState state(plan_, now, bytes, clock.one().integer(1));
  co_return state.remaining(now);
}

}  // namespace sluice::sql
