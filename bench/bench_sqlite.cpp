// 64 waiting writers through SqliteDatabase, against a bare loop that commits 64 inserts at a time with the same
// pragmas on the same file system. In rotation, a fresh file each round; the ratio of the medians is the result.
//
//   bench_sqlite [ROUNDS] [COMMITS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <sqlite3.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "runtime/system_clock.h"

namespace sluice {
namespace {

constexpr int writers = 64;
constexpr const char* make_table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;";
constexpr const char* insert_note = "INSERT INTO notes (id, body) VALUES ($1, $2)";
const std::string body(100, 'n');

// Rows a second, from the time `count` rows took since `start`.
double rate(const Clock& clock, Instant start, int count) {
  return count / std::chrono::duration<double>(clock.now() - start).count();
}

void run_sql(sqlite3* connection, const char* text) {
  const int code = sqlite3_exec(connection, text, nullptr, nullptr, nullptr);
  check_that(code == SQLITE_OK, "{}: {}", text, sqlite3_errmsg(connection));
}

double bare_loop(const std::filesystem::path& folder, int commits) {
  const SystemClock clock;
  sqlite3* connection = nullptr;
  sqlite3_open((folder / "bare.db").c_str(), &connection);
  for (const char* text :
       {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA journal_size_limit = 67108864",
        "PRAGMA foreign_keys = ON", "PRAGMA wal_autocheckpoint = 0", "PRAGMA temp_store = MEMORY", make_table}) {
    run_sql(connection, text);
  }
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(connection, insert_note, -1, &insert, nullptr);
  const Instant start = clock.now();
  for (int commit = 0; commit < commits; ++commit) {
    run_sql(connection, "BEGIN IMMEDIATE");
    for (int i = 0; i < writers; ++i) {
      sqlite3_bind_int64(insert, 1, int64_t{commit} * writers + i);
      sqlite3_bind_text(insert, 2, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      check(sqlite3_step(insert) == SQLITE_DONE, "inserting");
      sqlite3_reset(insert);
    }
    run_sql(connection, "COMMIT");
  }
  const double result = rate(clock, start, commits * writers);
  sqlite3_finalize(insert);
  sqlite3_close(connection);
  return result;
}

// Ids in the order of the bare loop's, so that both touch the same pages.
Task<> write_notes(sql::Database& database, int64_t& next, int count) {
  for (int i = 0; i < count; ++i) {
    sql::Params params(next++, body);
    co_await database.write(insert_note, std::move(params));
  }
}

double waiting_writers(const std::filesystem::path& folder, int commits) {
  const SystemClock clock;
  sqlite::SqliteDatabase database({.folder = folder}, clock, {"main", {{1, "notes", make_table}}});
  asio::io_context io;
  int64_t next = 0;
  const Instant start = clock.now();
  for (int writer = 0; writer < writers; ++writer) {
    asio::co_spawn(io, write_notes(database, next, commits),
                   [](const std::exception_ptr& error) { check(!error, "a write failed"); });
  }
  io.run();
  return rate(clock, start, commits * writers);
}

template <class Run>
double in_fresh_folder(Run run, int commits) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("sluice-bench-{}", getpid());
  std::filesystem::create_directories(folder);
  const double result = run(folder, commits);
  std::filesystem::remove_all(folder);
  return result;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  using namespace sluice;
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 7;
  const int commits = count > 2 ? std::atoi(arguments[2]) : 3000;
  std::vector<double> ours;
  std::vector<double> bare;
  for (int round = 1; round <= rounds; ++round) {
    bare.push_back(in_fresh_folder(bare_loop, commits));
    ours.push_back(in_fresh_folder(waiting_writers, commits));
    std::printf("round %d: bare loop %6.0f/s, 64 writers %6.0f/s, ratio %.2f\n", round, bare.back(), ours.back(),
                ours.back() / bare.back());
    std::fflush(stdout);
  }
  std::printf("median: bare loop %.0f inserts/s, 64 waiting writers %.0f inserts/s, ratio %.2f (at least 0.70)\n",
              median(bare), median(ours), median(ours) / median(bare));
  return median(ours) >= 0.7 * median(bare) ? 0 : 1;
}
