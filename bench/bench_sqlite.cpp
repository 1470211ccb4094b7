// 64 waiting writers through SqliteDatabase, against a bare loop that commits 64 inserts at a time with the same
// pragmas on the same file system. In rotation, a fresh file each round; the ratio of the medians is the result.
//
//   bench_sqlite [ROUNDS] [COMMITS]

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "bench/bare_commits.h"
#include "runtime/system_clock.h"

namespace sluice {
namespace {

// Ids in the order of the bare loop's, so that both touch the same pages.
Task<> write_notes(sql::Database& database, int64_t& next, int count) {
  for (int i = 0; i < count; ++i) {
    sql::Params params(next++, bare::body);
    co_await database.write(bare::insert_note, std::move(params));
  }
}

double waiting_writers(const std::filesystem::path& folder, int commits) {
  const SystemClock clock;
  sqlite::SqliteDatabase database({.folder = folder}, clock, {"main", {{1, "notes", bare::make_table}}});
  asio::io_context io;
  int64_t next = 0;
  const Instant start = clock.now();
  for (int writer = 0; writer < bare::rows_per_commit; ++writer) {
    asio::co_spawn(io, write_notes(database, next, commits),
                   [](const std::exception_ptr& error) { check(!error, "a write failed"); });
  }
  io.run();
  return bare::rate(clock, start, commits * bare::rows_per_commit);
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  using namespace sluice;
  return bare::against_bare_loop(count, arguments, "waiting writers", waiting_writers);
}
