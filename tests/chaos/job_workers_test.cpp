// Worker processes are killed and the database goes away, while they do jobs.
//
// Promised: every job ends succeeded; none runs twice at the same time; every attempt is either the one that succeeded
// or one that was cut off, and ran at most once; at no instant more than k of one throttle key run; nobody needs to be
// told that the database is back.
#include <csignal>

#include <gtest/gtest.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "adapters/sql/jobs/sql_job_store.h"
#include "runtime/system_clock.h"
#include "tests/chaos/job_history.h"
#include "tests/chaos/job_kind_in_chaos.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/run_length.h"

namespace sluice::test {
namespace {

const std::string kind = "chaos";
const std::string password = "a password";

class JobWorkers : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    server_.emplace();
    run(make_ready());
    const postgres::PostgresConfig config{.url = server_->url(), .user = "job_service", .password = password};
    database_ = std::make_unique<postgres::PostgresDatabase>(config, thread_, clock_);
    store_ = std::make_unique<sql::SqlJobStore>(*database_, kinds_, clock_, random_);
  }

  Task<> make_ready() {
    postgres::PostgresSetup setup(
        {.admin = {.url = server_->url(), .user = server_->user(), .password = server_->password()},
         .services = {{"job_service", password}}},
        thread_, clock_);
    co_await setup.create_services();
    std::vector<sql::MigrationSet> sets;
    for (const sql::MigrationSet& set : postgres::migrations()) {
      if (set.schema == "job_service") sets.push_back(set);
    }
    co_await setup.migrate(sets);
  }

  void add_jobs(size_t count, size_t keys) {
    while (count > 0) {
      std::vector<jobs::NewJob> some;
      for (; count > 0 && some.size() < 5'000; --count) {
        some.push_back({.kind = kind, .payload = "{}"});
        if (keys > 0) some.back().throttle_key = fmt::format("domain-{}", count % keys);
      }
      run(store_->enqueue(std::move(some)));
    }
  }

  struct Worker {
    std::filesystem::path history;
    std::unique_ptr<Process> process;
  };
  Worker start_worker() {
    const std::filesystem::path history = folder_ / fmt::format("history-{}", ++started_);
    auto process = std::make_unique<Process>(
        ProcessOptions{.arguments = {binary("job_worker"), server_->url(), password, kind, history}});
    return {history, std::move(process)};
  }
  void kill(Worker& worker) {
    worker.process->kill();
    history_.add(worker.history, std::chrono::floor<Duration>(clock_.now().time_since_epoch()));
  }

  static bool has_worked_since(const Worker& worker, Duration time) {
    JobHistory own;
    own.add(worker.history, Duration::max());
    return own.last_end() > time;
  }

  int64_t number(sql::Statement statement) { return run(database_->read(statement)).one().integer(0); }
  int64_t succeeded() { return number("SELECT count(*) FROM finished_jobs WHERE status = 'succeeded'"); }

  void wait_for(int64_t wanted, Duration most) {
    const Instant end = clock_.now() + most;
    while (succeeded() < wanted && clock_.now() < end) run(clock_.sleep_for(100ms));
    ASSERT_GE(succeeded(), wanted);
  }

  void expect_every_run_accounted_for(int64_t jobs) {
    EXPECT_EQ(succeeded(), jobs);
    EXPECT_EQ(number("SELECT count(*) FROM jobs"), 0);
    EXPECT_EQ(number("SELECT sum(attempts)::bigint FROM finished_jobs"),
              jobs + number("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'"));
    EXPECT_EQ(history_.ran_twice_at_once(), std::nullopt);
    std::map<std::string, int64_t> attempts;
    for (const sql::Row& row : run(database_->read("SELECT id, attempts::bigint FROM finished_jobs"))) {
      attempts.emplace(row.id<jobs::JobTag>(0).text(), row.integer(1));
    }
    EXPECT_EQ(history_.contradiction(attempts), std::nullopt);
    EXPECT_LE(history_.most_of_a_key(), jobs_of_key_at_once);
  }

  SystemClock clock_;
  SeededRandom random_{1};
  TemporaryFolder folder_;
  const jobs::JobKinds kinds_ = kinds_in_chaos(kind);
  std::optional<PostgresServer> server_;
  postgres::EngineThread thread_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<sql::SqlJobStore> store_;
  JobHistory history_;
  int started_ = 0;
};

TEST_F(JobWorkers, killed_at_random_lose_nothing_do_nothing_twice_at_once_and_never_exceed_a_key) {
  const uint64_t chosen = seed();
  SCOPED_TRACE(fmt::format("SLUICE_SEED={}", chosen));
  SeededRandom random(chosen);
  int64_t jobs = in_full() ? 100'000 : 5'000;
  const int kills = in_full() ? 200 : 12;
  add_jobs(static_cast<size_t>(jobs), 100);
  std::vector<Worker> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(start_worker());
  for (int i = 0; i < kills; ++i) {
    run(clock_.sleep_for(Duration(random.below(600'000))));
    Worker& victim = workers[random.below(workers.size())];
    kill(victim);
    victim = start_worker();
  }
  while (!history_.cut_off()) {  // where the machine was so slow that each kill came before the first job
    add_jobs(1'000, 100);
    jobs += 1'000;
    const Duration now = std::chrono::floor<Duration>(clock_.now().time_since_epoch());
    const Instant latest = clock_.now() + 1min;
    while (!has_worked_since(workers[0], now)) ASSERT_LT(clock_.now(), latest) << "a worker does nothing";
    kill(workers[0]);
    workers[0] = start_worker();
  }
  wait_for(jobs, in_full() ? 20min : 5min);
  for (Worker& worker : workers) kill(worker);
  expect_every_run_accounted_for(jobs);
  EXPECT_GT(number("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'"), 0);
}

TEST_F(JobWorkers, go_on_by_themselves_when_the_database_is_back_and_never_exceed_a_key) {
  int64_t jobs = in_full() ? 20'000 : 2'000;
  add_jobs(static_cast<size_t>(jobs), 7);
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker());
  wait_for(jobs / 3, 5min);
  server_->stop();
  server_->start();
  const Duration back = std::chrono::floor<Duration>(clock_.now().time_since_epoch());
  ASSERT_TRUE(eventually([&] {
    try {
      return succeeded() > 0;
    } catch (const EngineUnavailable&) {
      return false;
    }
  }));
  // There is work for as long as one of them waits before it tries again.
  const Instant latest = clock_.now() + 3min;
  while (!std::ranges::all_of(workers, [&](const Worker& worker) { return has_worked_since(worker, back); })) {
    ASSERT_LT(clock_.now(), latest) << "a worker did not go on";
    add_jobs(50, 7);
    jobs += 50;
    run(clock_.sleep_for(50ms));
  }
  wait_for(jobs, 5min);
  for (Worker& worker : workers) kill(worker);
  expect_every_run_accounted_for(jobs);
  EXPECT_EQ(history_.most_of_a_key(), jobs_of_key_at_once) << "both slots of a key were used";
}

}  // namespace
}  // namespace sluice::test
