// bench_jobs: what the queue costs on PostgreSQL.
//
//   bench_jobs speed [ROUNDS]      no-op jobs, claimed and completed 100 at a time by 4 loops, against a bare loop of
//   the
//                                  two SQL statements over 4 libpq connections; adding 100,000
//   bench_jobs history [FINISHED]  a claim's time with so many finished jobs, against none
//   bench_jobs held [SECONDS]      the speed while somebody holds a transaction open, against normal
//
// A private PostgreSQL, every commit on the disk.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "bench/jobs_load.h"
#include "runtime/system_clock.h"
#include "tests/support/postgres_server.h"

namespace sluice::bench {
namespace {

constexpr size_t jobs_a_round = 100'000;
const std::string password = "bench";

class PlainConnection {
 public:
  explicit PlainConnection(const test::PostgresServer& server, bool administrator = false) {
    const std::string url = server.url();
    const std::string user = administrator ? server.user() : "job_service";
    const std::string secret = administrator ? server.password() : password;
    const char* names[] = {"dbname", "user", "password", nullptr};
    const char* values[] = {url.c_str(), user.c_str(), secret.c_str(), nullptr};
    pg_ = PQconnectdbParams(names, values, 1);
  }
  ~PlainConnection() { PQfinish(pg_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  // The first two columns of the rows, each as an array literal.
  std::array<std::string, 2> query(const char* text, std::vector<const char*> values) {
    PGresult* result =
        PQexecParams(pg_, text, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(pg_));
    std::array<std::string, 2> columns{"{", "{"};
    rows_ = PQntuples(result);
    for (int column = 0; column < std::min(PQnfields(result), 2); ++column) {
      std::string& array = columns[static_cast<size_t>(column)];
      for (int row = 0; row < rows_; ++row) {
        if (row > 0) array += ',';
        array += PQgetvalue(result, row, column);
      }
    }
    PQclear(result);
    columns[0] += '}';
    columns[1] += '}';
    return columns;
  }
  int rows() const { return rows_; }

 private:
  PGconn* pg_;
  int rows_ = 0;
};

constexpr const char* bare_claim =
    "UPDATE jobs SET status = 'running', attempts = attempts + 1, lock_token = lock_token + 1, lock_ttl = 600000000, "
    "  locked_at = now(), locked_by = 'bench', lock_expires_at = now() + interval '10 minutes', updated_at = now() "
    "WHERE id = ANY (ARRAY(SELECT id FROM jobs WHERE kind = 'noop' AND slot IS NOT NULL AND status <> 'running' "
    "  AND run_after <= now() ORDER BY priority, run_after, id LIMIT 100 FOR UPDATE SKIP LOCKED)) "
    "RETURNING id, lock_token, kind, payload, attempts, max_attempts, lock_expires_at, throttle_key";
constexpr const char* bare_complete =
    "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, lock_token, locked_at, "
    "  created_at, finished_at, locked_by, unique_key, payload, last_error) "
    "SELECT ended.id, kind, 'succeeded', priority, run_after, attempts, max_attempts, lock_token, locked_at, "
    "created_at, "
    "  now(), locked_by, unique_key, payload, last_error "
    "FROM unnest($1::uuid[], $2::bigint[]) AS given (id, token) "
    "CROSS JOIN LATERAL (SELECT * FROM jobs WHERE id = given.id OFFSET 0) AS ended "
    "WHERE lock_token = given.token AND status = 'running' RETURNING id";

double bare(const test::PostgresServer& server) {
  std::atomic<int64_t> count = 0;
  const auto start = SteadyClock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < loops; ++i) {
    threads.emplace_back([&server, &count] {
      PlainConnection connection(server);
      while (true) {
        const auto claimed = connection.query(bare_claim, {});
        if (connection.rows() == 0) return;
        connection.query(bare_complete, {claimed[0].c_str(), claimed[1].c_str()});
        count += connection.rows();
      }
    });
  }
  threads.clear();
  return static_cast<double>(count) / seconds_since(start);
}

Task<> make_ready(postgres::PostgresSetup& setup) {
  co_await setup.create_services();
  std::vector<sql::MigrationSet> sets;
  for (const sql::MigrationSet& set : postgres::migrations()) {
    if (set.schema == "job_service") sets.push_back(set);
  }
  co_await setup.migrate(sets);
}

class Bench {
 public:
  Bench() {
    postgres::PostgresSetup setup(
        {.admin = {.url = server_.url(), .user = server_.user(), .password = server_.password()},
         .services = {{"job_service", password}}},
        thread_, clock_);
    run_here(make_ready(setup));
    database_ = std::make_unique<postgres::PostgresDatabase>(
        postgres::PostgresConfig{.url = server_.url(), .user = "job_service", .password = password, .pool_kept = 5},
        thread_, clock_);
    store_ = std::make_unique<sql::SqlJobStore>(*database_, kinds_, clock_, random_);
    admin_ = std::make_unique<PlainConnection>(server_, true);
    admin_->query("SET search_path TO job_service", {});
  }

  void speed(int rounds) {
    std::vector<double> adding, ours, plain;
    for (int round = 0; round < rounds; ++round) {
      adding.push_back(fill());
      ours.push_back(work_off(*store_));
      fill();
      plain.push_back(bare(server_));
      fmt::print("round {}: ours {:.0f}/s, bare {:.0f}/s, added {:.0f}/s\n", round + 1, ours.back(), plain.back(),
                 adding.back());
      std::fflush(stdout);
    }
    fmt::print("no-op jobs, {} at a time, {} loops, every commit on the disk (medians of {} rounds in rotation)\n",
               jobs_at_once, loops, rounds);
    fmt::print("  sluice                      {:8.0f} jobs/s\n", median(ours));
    fmt::print("  bare loop, {} connections    {:8.0f} jobs/s\n", loops, median(plain));
    fmt::print("  ratio {:.2f} (bar: 0.7)\n", median(ours) / median(plain));
    fmt::print("  added, 10,000 at a time     {:8.0f} jobs/s\n", median(adding));
  }

  void history(int64_t finished) {
    const double before = claim_milliseconds();
    const std::string count = std::to_string(finished);
    admin_->query("ALTER TABLE finished_jobs DISABLE TRIGGER USER", {});
    admin_->query(
        "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, "
        "  lock_token, locked_at, created_at, finished_at, locked_by, payload) "
        "SELECT gen_random_uuid(), 'noop', 'succeeded', 0, now(), 1, 2, 1, now(), now(), now(), 'w', '{}' "
        "FROM generate_series(1, $1::bigint)",
        {count.c_str()});
    admin_->query("ALTER TABLE finished_jobs ENABLE TRIGGER USER", {});
    admin_->query("VACUUM ANALYZE finished_jobs", {});
    const double after = claim_milliseconds();
    fmt::print("claim of {} beside 0 finished jobs {:.2f} ms, beside {} {:.2f} ms: ratio {:.2f}\n", jobs_at_once,
               before, finished, after, after / before);
  }

  void held(double seconds) {
    const double normal = busy_for(seconds, "normal");
    PlainConnection holder(server_, true);
    holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ", {});
    holder.query("SELECT count(*) FROM job_service.jobs", {});
    const double beside = busy_for(seconds, "beside a transaction held open");
    holder.query("COMMIT", {});
    fmt::print("  ratio {:.2f} (bar: 0.7)\n", beside / normal);
  }

 private:
  // Jobs a second.
  double fill() {
    admin_->query("VACUUM ANALYZE jobs", {});
    admin_->query("CHECKPOINT", {});
    const auto start = SteadyClock::now();
    run_here(add_jobs(*store_, jobs_a_round));
    return jobs_a_round / seconds_since(start);
  }

  // The mean of a round's claims.
  double claim_milliseconds() {
    fill();
    asio::io_context io;
    const jobs::ClaimRequest request{.worker = "bench", .kinds = {kind}, .limit = jobs_at_once};
    double spent = 0;
    int claims = 0;
    const auto claim_all = [](jobs::JobStore& store, jobs::ClaimRequest asked, double& time, int& count) -> Task<> {
      while (true) {
        const auto start = SteadyClock::now();
        const std::vector<jobs::ClaimedJob> claimed = co_await store.claim(asked);
        time += seconds_since(start);
        if (claimed.empty()) co_return;
        ++count;
        std::vector<jobs::Completion> completions;
        for (const jobs::ClaimedJob& job : claimed) completions.push_back({.job = {job.id, job.token}});
        co_await store.complete(std::move(completions));
      }
    };
    asio::co_spawn(io, claim_all(*store_, request, spent, claims), die_of_errors);
    io.run();
    return spent / claims * 1000;
  }

  // The median speed in the last third of the time; all the while jobs are added and worked off.
  double busy_for(double seconds, const char* what) {
    const auto start = SteadyClock::now();
    size_t done = 0;
    std::vector<double> late;
    while (seconds_since(start) < seconds) {
      run_here(add_jobs(*store_, jobs_a_round));
      const double speed = work_off(*store_);
      done += jobs_a_round;
      const double now = seconds_since(start);
      if (now > seconds * 2 / 3) late.push_back(speed);
      fmt::print("  {:5.0f} s: {:.0f} jobs/s\n", now, speed);
      std::fflush(stdout);
    }
    fmt::print("{}: {:.0f} jobs/s in the last third, adding included {:.0f} in all\n", what, median(late),
               static_cast<double>(done) / seconds_since(start));
    return median(late);
  }

  SystemClock clock_;
  SeededRandom random_{1};
  const jobs::JobKinds kinds_;
  const test::PostgresServer server_{
      {.durable = true, .settings = {"shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=30min"}}};
  postgres::EngineThread thread_;
  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::unique_ptr<sql::SqlJobStore> store_;
  std::unique_ptr<PlainConnection> admin_;
};

int run(int count, char** arguments) {
  const std::string part = count > 1 ? arguments[1] : "";
  const int64_t number = count > 2 ? std::atoll(arguments[2]) : 0;
  if (part == "speed") {
    Bench().speed(number > 0 ? static_cast<int>(number) : 5);
  } else if (part == "history") {
    Bench().history(number > 0 ? number : 5'000'000);
  } else if (part == "held") {
    Bench().held(number > 0 ? static_cast<double>(number) : 300);
  } else {
    fmt::print(stderr, "usage: bench_jobs speed [ROUNDS] | history [FINISHED] | held [SECONDS]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
  try {
    return sluice::bench::run(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_jobs: {}\n", error.what());
    return 1;
  }
}
