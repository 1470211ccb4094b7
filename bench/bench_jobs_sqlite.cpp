// bench_jobs_sqlite [ROUNDS]: what the queue costs on the embedded store.
//
// No-op jobs by our workers and by our store alone, against a bare loop of the same two SQL statements, a commit each;
// the delay of a start. Each round on a file of its own, every commit on the disk.
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <sqlite3.h>

#include "adapters/sqlite/sqlite_database.h"
#include "bench/jobs_load.h"
#include "runtime/log.h"
#include "runtime/system_clock.h"
#include "tests/support/temporary_folder.h"

namespace sluice::bench {
namespace {

constexpr size_t jobs_a_round = 50'000;
constexpr size_t delays_taken = 50;

void now_function(sqlite3_context* context, int, sqlite3_value**) {
  sqlite3_result_int64(context, SystemClock().wall().time_since_epoch().count());
}

// Plain use of SQLite.
class PlainFile {
 public:
  explicit PlainFile(const std::filesystem::path& file) {
    sqlite3_open(file.c_str(), &handle_);
    sqlite3_create_function(handle_, "now", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, now_function, nullptr,
                            nullptr);
    run("PRAGMA synchronous = FULL");
    claim_ = prepare(
        "UPDATE jobs SET status = 'running', attempts = attempts + 1, lock_token = lock_token + 1, "
        "  lock_ttl = 600000000, locked_at = now(), locked_by = 'bench', lock_expires_at = now() + 600000000, "
        "  updated_at = now() "
        "WHERE id IN (SELECT id FROM jobs WHERE kind = 'noop' AND slot IS NOT NULL AND status <> 'running' "
        "  AND run_after <= now() ORDER BY priority, run_after, id LIMIT ?1) "
        "RETURNING id, lock_token, payload");
    complete_ = prepare(
        "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, lock_token, "
        "  locked_at, created_at, finished_at, locked_by, unique_key, payload, last_error) "
        "SELECT id, kind, 'succeeded', priority, run_after, attempts, max_attempts, lock_token, "
        "  locked_at, created_at, now(), locked_by, unique_key, payload, last_error "
        "FROM jobs WHERE id = ?1 AND lock_token = ?2 AND status = 'running' RETURNING id");
  }
  ~PlainFile() {
    sqlite3_finalize(claim_);
    sqlite3_finalize(complete_);
    sqlite3_close(handle_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  // How many there were to do.
  size_t claim_and_complete() {
    std::vector<std::pair<std::string, int64_t>> claimed;
    sqlite3_bind_int64(claim_, 1, jobs_at_once);
    while (sqlite3_step(claim_) == SQLITE_ROW) {
      const auto* id = static_cast<const char*>(sqlite3_column_blob(claim_, 0));
      claimed.emplace_back(std::string(id, 16), sqlite3_column_int64(claim_, 1));
    }
    sqlite3_reset(claim_);
    run("BEGIN IMMEDIATE");
    for (const auto& [id, token] : claimed) {
      sqlite3_bind_blob(complete_, 1, id.data(), 16, SQLITE_STATIC);
      sqlite3_bind_int64(complete_, 2, token);
      while (sqlite3_step(complete_) == SQLITE_ROW) {
      }
      sqlite3_reset(complete_);
    }
    run("COMMIT");
    return claimed.size();
  }

 private:
  void run(const char* text) {
    if (sqlite3_exec(handle_, text, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle_));
    }
  }
  sqlite3_stmt* prepare(const char* text) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, text, -1, &statement, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle_));
    }
    return statement;
  }

  sqlite3* handle_ = nullptr;
  sqlite3_stmt* claim_ = nullptr;
  sqlite3_stmt* complete_ = nullptr;
};

struct Round {
  double added = 0;
  double by_workers = 0;
  double by_store = 0;
  double plain = 0;
  double delay_ms = 0;  // median
};

void run_ours(Round& round, const std::filesystem::path& folder) {
  SystemClock clock;
  SeededRandom random(1);
  const jobs::JobKinds kinds;
  asio::io_context io;
  sqlite::SqliteDatabase database({.folder = folder}, clock);
  sql::SqlJobStore store(database, kinds, clock, random);
  const auto start = SteadyClock::now();
  run_here(io, add_jobs(store, jobs_a_round));
  round.added = jobs_a_round / seconds_since(start);
  round.by_workers = work_off_by_workers(io, store, kinds, jobs_a_round);
  run_here(io, add_jobs(store, jobs_a_round));
  round.by_store = work_off(io, store, jobs_a_round);
  round.delay_ms = median(start_delays(io, store, kinds, delays_taken)) * 1000;
  run_here(io, add_jobs(store, jobs_a_round));
}

Round run_round() {
  const test::TemporaryFolder folder;
  Round round;
  run_ours(round, folder.path());
  PlainFile plain(folder.path() / "sluice.db");
  const auto start = SteadyClock::now();
  size_t done = 0;
  while (const size_t some = plain.claim_and_complete()) done += some;
  round.plain = static_cast<double>(done) / seconds_since(start);
  return round;
}

double median_of(const std::vector<Round>& rounds, double Round::* figure) {
  std::vector<double> figures;
  for (const Round& round : rounds) figures.push_back(round.*figure);
  return median(std::move(figures));
}

void run(int count) {
  std::vector<Round> rounds;
  for (int i = 1; i <= count; ++i) {
    const Round round = rounds.emplace_back(run_round());
    fmt::print("round {}: workers {:.0f}/s, store {:.0f}/s, bare {:.0f}/s, added {:.0f}/s\n", i, round.by_workers,
               round.by_store, round.plain, round.added);
    std::fflush(stdout);
  }
  const double ours = median_of(rounds, &Round::by_workers);
  const double plain = median_of(rounds, &Round::plain);
  fmt::print("no-op jobs on the embedded store, {} at a time (medians of {} rounds)\n", jobs_at_once, count);
  fmt::print("  sluice's workers            {:8.0f} jobs/s\n", ours);
  fmt::print("  sluice's store alone        {:8.0f} jobs/s\n", median_of(rounds, &Round::by_store));
  fmt::print("  bare loop                   {:8.0f} jobs/s\n", plain);
  fmt::print("  sluice's workers to the bare loop {:.2f} (bar: 0.7)\n", ours / plain);
  fmt::print("  added, 10,000 at a time     {:8.0f} jobs/s\n", median_of(rounds, &Round::added));
  fmt::print("  from adding a job to its start, idle workers: p50 {:.2f} ms (bar: 10 ms)\n",
             median_of(rounds, &Round::delay_ms));
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
  sluice::log::start({.level = sluice::log::Level::warning});
  try {
    sluice::bench::run(count > 1 ? std::atoi(arguments[1]) : 5);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_jobs_sqlite: {}\n", error.what());
    return 1;
  }
}
