// 64 waiting writers through SqliteDatabase, against a bare loop that commits 64 inserts at a time with the same
// pragmas on the same file system. In rotation, a fresh file each round; the ratio of the medians is the result.
//
//   bench_sqlite [ROUNDS] [COMMITS]
#include <cstdio>
#include <cstdlib>

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
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 7;
  const int commits = count > 2 ? std::atoi(arguments[2]) : 3000;
  std::vector<double> ours;
  std::vector<double> raw;
  for (int round = 1; round <= rounds; ++round) {
    raw.push_back(bare::in_fresh_folder(bare::commit_loop, commits));
    ours.push_back(bare::in_fresh_folder(waiting_writers, commits));
    std::printf("round %d: bare loop %6.0f/s, 64 writers %6.0f/s, ratio %.2f\n", round, raw.back(), ours.back(),
                ours.back() / raw.back());
    std::fflush(stdout);
  }
  std::printf("median: bare loop %.0f inserts/s, 64 waiting writers %.0f inserts/s, ratio %.2f (at least 0.70)\n",
              bare::median(raw), bare::median(ours), bare::median(ours) / bare::median(raw));
  return bare::median(ours) >= 0.7 * bare::median(raw) ? 0 : 1;
}
