// A table whose writers say their fence, as anything written under a lease does: a lower one than before is refused.
#pragma once

#include "adapters/sql/driver/database.h"

namespace sluice::test {

inline constexpr sql::Statement make_fenced_table{
    "CREATE TABLE IF NOT EXISTS fenced_writes (key text PRIMARY KEY, fence bigint NOT NULL, writer text NOT NULL)"};
inline constexpr sql::Statement upsert_fenced{
    "INSERT INTO fenced_writes AS w (key, fence, writer) VALUES ($1, $2, $3) "
    "ON CONFLICT (key) DO UPDATE SET fence = excluded.fence, writer = excluded.writer WHERE w.fence <= excluded.fence"};
inline constexpr sql::Statement find_writer{"SELECT writer FROM fenced_writes WHERE key = $1"};

// False if a writer with a higher fence was there before.
inline Task<bool> write_fenced(sql::Database& database, std::string key, int64_t fence, std::string writer) {
  sql::Params params(key, fence, writer);
  const sql::Rows rows = co_await database.write(upsert_fenced, std::move(params));
  co_return rows.affected == 1;
}

}  // namespace sluice::test
