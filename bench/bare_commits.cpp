#include "bench/bare_commits.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/system_clock.h"

namespace sluice::bare {
namespace {

void run_sql(sqlite3* connection, const char* text) {
  const int code = sqlite3_exec(connection, text, nullptr, nullptr, nullptr);
  check_that(code == SQLITE_OK, "{}: {}", text, sqlite3_errmsg(connection));
}

}  // namespace

double rate(const Clock& clock, Instant start, int count) {
  return count / std::chrono::duration<double>(clock.now() - start).count();
}

double commit_loop(const std::filesystem::path& folder, int commits) {
  const SystemClock clock;
  sqlite3* connection = nullptr;
  sqlite3_open((folder / "bare.db").c_str(), &connection);
  for (const char* text :
       {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA journal_size_limit = 67108864",
        "PRAGMA foreign_keys = ON", "PRAGMA temp_store = MEMORY", make_table}) {
    run_sql(connection, text);
  }
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(connection, insert_note, -1, &insert, nullptr);
  const Instant start = clock.now();
  for (int commit = 0; commit < commits; ++commit) {
    run_sql(connection, "BEGIN IMMEDIATE");
    for (int i = 0; i < rows_per_commit; ++i) {
      sqlite3_bind_int64(insert, 1, int64_t{commit} * rows_per_commit + i);
      sqlite3_bind_text(insert, 2, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      check(sqlite3_step(insert) == SQLITE_DONE, "inserting");
      sqlite3_reset(insert);
    }
    run_sql(connection, "COMMIT");
  }
  const double result = rate(clock, start, commits * rows_per_commit);
  sqlite3_finalize(insert);
  sqlite3_close(connection);
  return result;
}

double in_fresh_folder(double (*run)(const std::filesystem::path& folder, int commits), int commits) {
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

int against_bare_loop(int count, char** arguments, const char* who,
                      double (*ours)(const std::filesystem::path& folder, int commits)) {
  constexpr double bar = 0.7;
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 7;
  const int commits = count > 2 ? std::atoi(arguments[2]) : 3000;
  std::vector<double> rates;
  std::vector<double> raw;
  for (int round = 1; round <= rounds; ++round) {
    raw.push_back(in_fresh_folder(commit_loop, commits));
    rates.push_back(in_fresh_folder(ours, commits));
    fmt::print("round {}: bare loop {:6.0f}/s, 64 {} {:6.0f}/s, ratio {:.2f}\n", round, raw.back(), who, rates.back(),
               rates.back() / raw.back());
    std::fflush(stdout);
  }
  const double ratio = median(rates) / median(raw);
  fmt::print("median: bare loop {:.0f}/s, 64 {} {:.0f}/s, ratio {:.2f} (at least {:.2f})\n", median(raw), who,
             median(rates), ratio, bar);
  return ratio >= bar ? 0 : 1;
}

}  // namespace sluice::bare
