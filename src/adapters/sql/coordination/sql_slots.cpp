#include "adapters/sql/coordination/sql_slots.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using coordination::Slot;

// The free numbers are those without a live row. The one chosen is taken over only if it is still free under its row
// lock, so two callers who choose the same one do not both get it; the loser comes back with nothing and looks again.
// In PostgreSQL the order is random, so that few callers choose the same one; SQLite has one writer.
constexpr Statement take_slot = R"(
    @sqlite(WITH RECURSIVE series (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM series WHERE number < $2))
    INSERT INTO slots AS held (key, number, owner, token, expires_at)
    SELECT $1, series.number, $3, 1, now() + @us($4)
    FROM @postgres(generate_series(1, $2::bigint) AS series (number)) @sqlite(series)
    WHERE NOT EXISTS (SELECT 1 FROM slots taken
      WHERE taken.key = $1 AND taken.number = series.number AND taken.expires_at > now())
    @postgres(ORDER BY random()) LIMIT 1
    ON CONFLICT (key, number) DO UPDATE
      SET owner = excluded.owner, token = held.token + 1, expires_at = excluded.expires_at
      WHERE held.expires_at <= now()
    RETURNING number, token)"_sql;
constexpr Statement count_taken = "SELECT count(*) FROM slots WHERE key = $1 AND number <= $2 AND expires_at > now()";
constexpr Statement renew_slot = R"(
    UPDATE slots SET expires_at = now() + @us($4)
    WHERE key = $1 AND number = $2 AND token = $3 AND expires_at > now())"_sql;
constexpr Statement free_slot =
    "UPDATE slots SET expires_at = now() WHERE key = $1 AND number = $2 AND token = $3 AND expires_at > now()";
constexpr Statement count_slots = "SELECT count(*) FROM slots WHERE key = $1 AND expires_at > now()";

TxTask<std::optional<Slot>> take_body(Tx& tx, std::string key, int64_t n, std::string owner, Duration ttl) {
  const Rows rows = co_await tx.execute(take_slot, Params(key, n, owner, ttl.count()));
  if (rows.empty()) co_return std::nullopt;
  co_return Slot{key, rows.one().integer(0), rows.one().integer(1)};
}

TxTask<bool> renew_body(Tx& tx, Slot slot, Duration ttl) {
  const Rows rows = co_await tx.execute(renew_slot, Params(slot.key, slot.number, slot.token, ttl.count()));
  co_return rows.affected == 1;
}

TxTask<> give_back_body(Tx& tx, Slot slot) {
  co_await tx.execute(free_slot, Params(slot.key, slot.number, slot.token));
}

}  // namespace

Task<std::optional<Slot>> SqlSlots::take(std::string key, int64_t n, std::string owner, Duration ttl) {
  // A round that gets no slot although one looked free means that another caller got it, so n rounds are enough.
  for (int64_t round = 0; round < n; ++round) {
    std::optional<Slot> slot = co_await database_.transact(take_body, key, n, owner, ttl);
    if (slot) co_return slot;
    Params params(key, n);
    const Rows taken = co_await database_.read(count_taken, std::move(params));
    if (taken.one().integer(0) >= n) co_return std::nullopt;
  }
  co_return std::nullopt;
}

Task<bool> SqlSlots::renew(Slot slot, Duration ttl) {
  return database_.transact(renew_body, std::move(slot), ttl);
}

Task<> SqlSlots::give_back(Slot slot) {
  return database_.transact(give_back_body, std::move(slot));
}

Task<int64_t> SqlSlots::in_use(std::string key) {
  Params params(key);
  const Rows rows = co_await database_.read(count_slots, std::move(params));
  co_return rows.one().integer(0);
}

}  // namespace sluice::sql
