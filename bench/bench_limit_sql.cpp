// Draws a second from a limit in the database, by 16 callers at once: hundreds are enough. Most are refused, as they
// are where a limit is worth having; on SQLite a refusal writes nothing.
//
//   bench_limit_sql [DRAWS]
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "runtime/system_clock.h"
#include "tests/support/postgres_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice {
namespace {

constexpr int callers = 16;

coordination::LimitPlan model_plan() {
  return {.name = "bench",
          .window = {{"global", 450, 1s}, {"low", 350, 1s}},
          .priority = {{.name = "LOW", .windows = {"global", "low"}}}};
}

Task<> draw_often(coordination::SharedLimit& limit, int count) {
  for (int i = 0; i < count; ++i) co_await limit.draw(0, 1, 1);
}

bool measure(const char* name, sql::Database& database, Clock& clock, int draws) {
  sql::SqlLimit limit(database, model_plan(), clock);
  asio::io_context io;
  const Instant start = clock.now();
  for (int i = 0; i < callers; ++i) {
    asio::co_spawn(io, draw_often(limit, draws / callers),
                   [](const std::exception_ptr& error) { check(!error, "a draw failed"); });
  }
  io.run();
  const double rate = draws / std::chrono::duration<double>(clock.now() - start).count();
  std::printf("%-10s %6.0f draws/s (at least 200)\n", name, rate);
  return rate >= 200;
}

Task<> make_table(sql::Database& database) {
  co_await database.write("CREATE TABLE limits (name text PRIMARY KEY, state bytea NOT NULL) WITH (fillfactor = 50)");
}

bool measure_postgres(int draws) {
  SystemClock clock;
  const test::PostgresServer server({.durable = true});
  asio::io_context io;
  postgres::EngineThread thread;
  postgres::PostgresDatabase database({.url = server.url(), .user = server.user(), .password = server.password()},
                                      thread, clock);
  asio::co_spawn(io, make_table(database), [](const std::exception_ptr& error) { check(!error, "making the table"); });
  io.run();
  return measure("PostgreSQL", database, clock, draws);
}

bool measure_sqlite(int draws) {
  SystemClock clock;
  const test::TemporaryFolder folder;
  sqlite::SqliteDatabase database({.folder = folder.path()}, clock);
  return measure("SQLite", database, clock, draws);
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  const int draws = count > 1 ? std::atoi(arguments[1]) : 8000;
  const bool sqlite = sluice::measure_sqlite(draws);
  const bool postgres = sluice::measure_postgres(draws);
  return sqlite && postgres ? 0 : 1;
}
