#include "adapters/sql/coordination/sql_version_floors.h"

#include "adapters/sql/driver/sql_text.h"
#include "runtime/errors.h"

namespace sluice::sql {
namespace {

using coordination::RunFloor;

constexpr Statement find_floor = "SELECT floor, began FROM version_floors WHERE run = $1";

// With s the skew that clocks may have: an earlier run has issued at most its clock, now + s, or at most
// floor + (now + s - began) / 2, and began = inserted - s. So the new floor is s above the larger of now and
// floor + (now - inserted) / 2. Two runs that come at once take the same number, and one of them tries again: floors
// follow each other.
constexpr Statement add_floor = R"(
    INSERT INTO version_floors (run, number, floor, began)
    SELECT $1, coalesce(max(earlier.number), 0) + 1,
      @cast($2, bigint) + @greatest(clock.now, coalesce(max(
        earlier.floor + @greatest(clock.now - earlier.began - @cast($2, bigint), 0) / 2), 0)),
      clock.now - @cast($2, bigint)
    FROM (SELECT @clock_us AS now) AS clock LEFT JOIN version_floors AS earlier ON true
    GROUP BY clock.now
    ON CONFLICT DO NOTHING
    RETURNING floor, began)"_sql;

constexpr int most_tries = 20;

RunFloor to_floor(const Row& row) {
  return {.floor = row.integer(0), .began = row.integer(1)};
}

TxTask<std::optional<RunFloor>> floor_body(Tx& tx, std::string run) {
  for (int i = 0; i < most_tries; ++i) {
    Rows rows = co_await tx.execute(find_floor, Params(run));
    if (rows.empty()) rows = co_await tx.execute(add_floor, Params(run, coordination::version_skew.count()));
    if (!rows.empty()) co_return to_floor(rows.one());
  }
  co_return std::nullopt;
}

}  // namespace

Task<RunFloor> SqlVersionFloors::floor_of(std::string run) {
  // Usually the row exists already. Floors never change, so reading it is enough.
  Params params(run);
  const Rows known = co_await database_.read(find_floor, std::move(params));
  if (!known.empty()) co_return to_floor(known.one());
  const std::optional<RunFloor> floor = co_await database_.transact(floor_body, std::move(run));
  // Each try failed because another run was added: not so many start in a moment.
  if (!floor) throw EngineUnavailable("database", "too many concurrent requests for a version floor");
  co_return *floor;
}

}  // namespace sluice::sql
