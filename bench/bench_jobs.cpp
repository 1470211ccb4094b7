// bench_jobs: what the queue costs on PostgreSQL.
//
//   bench_jobs speed [ROUNDS]      no-op jobs by our workers and by our store alone, beside a bare loop of the two SQL
//                                  statements and the queues in $SLUICE_JOB_PEERS; adding 100,000; delay of a start
//   bench_jobs history [FINISHED]  a claim's time with so many finished jobs, against none
//   bench_jobs throttled [FINISHED]  jobs of throttle keys against jobs without, with 1,000 to 1,000,000 keys and then
//                                  beside so many finished jobs; tables are never analyzed
//   bench_jobs held [SECONDS]      the speed while somebody holds a transaction open, against normal; jobs have
//   throttle
//                                  keys, some become due later, and a lock lasts 2 s
//
// A private PostgreSQL, every commit on the disk. Finished jobs are kept.
#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "bench/bare_jobs.h"
#include "bench/job_peers.h"
#include "bench/jobs_load.h"
#include "runtime/log.h"
#include "runtime/system_clock.h"
#include "tests/support/postgres_server.h"

namespace sluice::bench {
namespace {

constexpr size_t jobs_a_round = 100'000;
constexpr size_t delays_taken = 300;
const std::string password = "bench";

Task<> make_ready(postgres::PostgresSetup& setup) {
  co_await setup.create_services();
  std::vector<sql::MigrationSet> sets;
  for (const sql::MigrationSet& set : postgres::migrations()) {
    if (set.schema == "job_service") sets.push_back(set);
  }
  co_await setup.migrate(sets);
}

// Jobs a second, by contestant, a figure for each round.
class Figures {
 public:
  void add(const std::string& name, double speed) {
    all_[name].push_back(speed);
    fmt::print(" {} {:.0f}", name, speed);
    std::fflush(stdout);
  }
  double of(const std::string& name) const { return median(all_.at(name)); }
  void print() const {
    for (const auto& [name, speeds] : all_) fmt::print("  {:26}{:8.0f} jobs/s\n", name, median(speeds));
  }

 private:
  std::map<std::string, std::vector<double>> all_;
};

class Bench {
 public:
  explicit Bench(Duration lock_ttl = 10min) : kinds_({{kind, {.lock_ttl = lock_ttl}}}) {
    postgres::PostgresSetup setup(
        {.admin = {.url = server_.url(), .user = server_.user(), .password = server_.password()},
         .services = {{"job_service", password}}},
        thread_, clock_);
    run_here(io_, make_ready(setup));
    database_ = std::make_unique<postgres::PostgresDatabase>(
        postgres::PostgresConfig{.url = server_.url(), .user = "job_service", .password = password, .pool_kept = 5},
        thread_, clock_);
    store_ = std::make_unique<sql::SqlJobStore>(*database_, kinds_, clock_, random_);
    admin_ = std::make_unique<PlainConnection>(server_.url(), server_.user(), server_.password());
    admin_->query("SET search_path TO job_service");
  }

  void speed(int rounds) {
    const char* folder = std::getenv("SLUICE_JOB_PEERS");
    const std::vector<JobPeer> peers = folder != nullptr ? job_peers(folder) : std::vector<JobPeer>{};
    for (const JobPeer& peer : peers) admin_->query(("CREATE DATABASE " + peer.database).c_str());
    warm_up();
    Figures worked, added;
    for (int round = 1; round <= rounds; ++round) {
      fmt::print("round {}:", round);
      added.add("sluice", fill());
      worked.add("sluice's workers", work_off_by_workers(io_, *store_, kinds_, jobs_a_round));
      fill();
      worked.add("sluice's store alone", work_off(io_, *store_, jobs_a_round));
      fill();
      worked.add("bare loop", work_off_bare({server_.url(), "job_service", password, loops, jobs_at_once}));
      for (const JobPeer& peer : peers) {
        const PeerSpeed peer_speed = run(peer);
        worked.add(peer.name, peer_speed.worked);
        added.add(peer.name + " adds", peer_speed.added);
      }
      fmt::print("\n");
    }
    report(worked, added, peers);
    report_delays();
  }

  void history(int64_t finished) {
    const double before = claim_milliseconds();
    add_finished(finished);
    admin_->query("VACUUM ANALYZE finished_jobs");
    const double after = claim_milliseconds();
    fmt::print("claim of {} beside 0 finished jobs {:.2f} ms, beside {} {:.2f} ms: ratio {:.2f}\n", claimed_in_history,
               before, finished, after, after / before);
  }

  void throttled(int64_t finished) {
    warm_up();
    for (const size_t keys : {1'000, 30'000, 1'000'000}) compare_throttled(keys, "");
    add_finished(finished);
    compare_throttled(1'000'000, fmt::format(", beside {} finished jobs", finished));
  }

  // The median speed in the last third of the time; all the while jobs are added and worked off.
  double busy_for(double seconds, const char* what) {
    const auto start = SteadyClock::now();
    size_t done = 0;
    std::vector<double> late;
    while (seconds_since(start) < seconds) {
      run_here(io_, add_jobs(*store_, jobs_a_round, held_shape));
      const double speed = work_off_by_workers(io_, *store_, kinds_, jobs_a_round);
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

  double busy_beside_a_transaction(double seconds) {
    PlainConnection holder(server_.url(), server_.user(), server_.password());
    holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    holder.query("SELECT count(*) FROM job_service.jobs");
    const double speed = busy_for(seconds, "beside a transaction held open");
    holder.query("COMMIT");
    return speed;
  }

 private:
  static constexpr size_t claimed_in_history = 100;
  // Each key's own rows pile up as well while a transaction is held, so that few keys would get slower.
  static constexpr JobShape held_shape{.keys = 100'000, .some_later = true};

  void add_finished(int64_t finished) {
    const std::string count = std::to_string(finished);
    admin_->query("ALTER TABLE finished_jobs DISABLE TRIGGER USER");
    admin_->query(
        "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, "
        "  lock_token, locked_at, created_at, finished_at, locked_by, payload) "
        "SELECT gen_random_uuid(), 'noop', 'succeeded', 0, now(), 1, 2, 1, now(), now(), now(), 'w', '{}' "
        "FROM generate_series(1, $1::bigint)",
        {count.c_str()});
    admin_->query("ALTER TABLE finished_jobs ENABLE TRIGGER USER");
  }

  void add_keys(size_t keys) {
    const std::string last = std::to_string(keys - 1);
    admin_->query(
        "WITH made AS (INSERT INTO throttle_keys (kind, throttle_key) SELECT 'noop', 'host-' || i || '.example' "
        "  FROM generate_series(0, $1::bigint) AS i ON CONFLICT DO NOTHING RETURNING kind, throttle_key) "
        "INSERT INTO throttle_states (kind, throttle_key) SELECT kind, throttle_key FROM made",
        {last.c_str()});
  }

  // Many workers that claim little, as they do over HTTP; and one that claims much.
  static constexpr Loops small_claims{.count = 8, .at_once = 50};
  static constexpr size_t jobs_in_small_claims = 30'000;
  struct Speeds {
    std::vector<double> added{}, in_small_claims{}, worked{};
    void print(const char* what) const {
      fmt::print("  {} {:.0f} jobs/s added, {:.0f} worked off by 8 workers 50 at a time, {:.0f} by one {} at a time\n",
                 what, median(added), median(in_small_claims), median(worked), jobs_at_once);
    }
  };
  void run_round(Speeds& speeds, JobShape shape) {
    run_here(io_, add_jobs(*store_, jobs_in_small_claims, shape));
    speeds.in_small_claims.push_back(work_off(io_, *store_, jobs_in_small_claims, small_claims));
    const auto start = SteadyClock::now();
    run_here(io_, add_jobs(*store_, jobs_a_round, shape));
    speeds.added.push_back(jobs_a_round / seconds_since(start));
    speeds.worked.push_back(work_off_by_workers(io_, *store_, kinds_, jobs_a_round));
  }
  void compare_throttled(size_t keys, const std::string& beside) {
    add_keys(keys);
    Speeds plain, limited;
    for (int round = 0; round < 3; ++round) {
      run_round(plain, {});
      run_round(limited, {.keys = keys});
    }
    fmt::print("{} throttle keys{}\n", keys, beside);
    plain.print("without keys:");
    limited.print("of keys:     ");
    fmt::print("  ratio {:.2f} added, {:.2f} worked off 50 at a time, {:.2f} {} at a time (bar: 0.4)\n",
               median(limited.added) / median(plain.added),
               median(limited.in_small_claims) / median(plain.in_small_claims),
               median(limited.worked) / median(plain.worked), jobs_at_once);
    std::fflush(stdout);
  }

  void warm_up() {
    run_here(io_, add_jobs(*store_, 5'000));
    work_off(io_, *store_, 5'000);
  }

  // Jobs a second.
  double fill() {
    admin_->query("VACUUM ANALYZE jobs");
    admin_->query("CHECKPOINT");
    const auto start = SteadyClock::now();
    run_here(io_, add_jobs(*store_, jobs_a_round));
    return jobs_a_round / seconds_since(start);
  }

  PeerSpeed run(const JobPeer& peer) {
    const std::string place = fmt::format("127.0.0.1:{}/{}", server_.port(), peer.database);
    PlainConnection admin("postgresql://" + place, server_.user(), server_.password());
    admin.query("VACUUM ANALYZE");
    admin.query("CHECKPOINT");
    return run_peer(peer, fmt::format("postgresql://{}:{}@{}", server_.user(), server_.password(), place),
                    jobs_a_round);
  }

  void report(const Figures& worked, const Figures& added, const std::vector<JobPeer>& peers) {
    fmt::print("no-op jobs, ours {} at a time, every commit on the disk, medians\n", jobs_at_once);
    worked.print();
    const double ours = worked.of("sluice's workers");
    fmt::print("  sluice's workers to the bare loop {:.2f} (bar: 0.7)\n", ours / worked.of("bare loop"));
    double best = 0;
    for (const JobPeer& peer : peers) best = std::max(best, worked.of(peer.name));
    if (best > 0) fmt::print("  sluice's workers to the best of the others {:.2f} (bar: 2)\n", ours / best);
    fmt::print("adding {}, 10,000 at a time\n", jobs_a_round);
    added.print();
  }

  void report_delays() {
    const std::vector<double> delays = start_delays(io_, *store_, kinds_, delays_taken);
    fmt::print("from adding a job to its start, idle workers: p50 {:.2f} ms, p99 {:.2f} ms (bar: p50 10 ms)\n",
               delays[delays.size() / 2] * 1000, delays[delays.size() * 99 / 100] * 1000);
  }

  // The mean of a round's claims.
  double claim_milliseconds() {
    fill();
    double spent = 0;
    int claims = 0;
    run_here(io_, claim_all(*store_, spent, claims));
    return spent / claims * 1000;
  }
  static Task<> claim_all(jobs::JobStore& store, double& time, int& count) {
    const jobs::ClaimRequest request{.worker = "bench", .kinds = {kind}, .limit = claimed_in_history};
    while (true) {
      const auto start = SteadyClock::now();
      const std::vector<jobs::ClaimedJob> claimed = co_await store.claim(request);
      time += seconds_since(start);
      if (claimed.empty()) co_return;
      ++count;
      std::vector<jobs::Completion> completions;
      for (const jobs::ClaimedJob& job : claimed) completions.push_back({.job = {job.id, job.token}});
      co_await store.complete(std::move(completions));
    }
  }

  asio::io_context io_;
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

// Each on a server of its own and for as long: a server gets slower anyway while its tables and indexes grow.
void held(double seconds) {
  const double alone = Bench(2s).busy_for(seconds, "without a transaction held open");
  const double beside = Bench(2s).busy_beside_a_transaction(seconds);
  fmt::print("  ratio {:.2f} (bar: 0.7)\n", beside / alone);
}

int run(int count, char** arguments) {
  const std::string part = count > 1 ? arguments[1] : "";
  const int64_t number = count > 2 ? std::atoll(arguments[2]) : 0;
  if (part == "speed") {
    Bench().speed(number > 0 ? static_cast<int>(number) : 5);
  } else if (part == "history") {
    Bench().history(number > 0 ? number : 5'000'000);
  } else if (part == "held") {
    held(number > 0 ? static_cast<double>(number) : 300);
  } else if (part == "throttled") {
    Bench().throttled(number > 0 ? number : 5'000'000);
  } else {
    fmt::print(stderr,
               "usage: bench_jobs speed [ROUNDS] | history [FINISHED] | throttled [FINISHED] | held [SECONDS]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
  sluice::log::start({.level = sluice::log::Level::warning});
  try {
    return sluice::bench::run(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_jobs: {}\n", error.what());
    return 1;
  }
}
