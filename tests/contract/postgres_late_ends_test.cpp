// Ends of jobs, and of throttle keys, that meet another transaction.
#include "adapters/postgres/migrations.h"
#include "adapters/sql/jobs/sql_job_store.h"
#include "runtime/system_clock.h"
#include "tests/contract/lock_session.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

class PostgresLateEnds : public TaskFixture, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(GetParam()));
    server_.emplace(PostgresOptions{.version = GetParam()});
    postgres::PostgresSetup setup(service_setup(*server_), thread_, clock_);
    run(setup.create_services());
    run(setup.migrate(postgres::migrations()));
    database_.emplace(postgres::PostgresConfig{.url = server_->url(),
                                               .user = "job_service",
                                               .password = service_password("job_service"),
                                               .statement_timeout = 1min,
                                               .lock_timeout = 1min},
                      thread_, clock_);
    store_.emplace(*database_, kinds_, clock_, random_);
  }

  // A session waits for the lock of another.
  bool somebody_waits() {
    const sql::Rows rows = run(database_->read("SELECT count(*) FROM pg_locks WHERE NOT granted"));
    return rows.one().integer(0) > 0;
  }

  // The verdict on a completion that is under way while a new claim of its job is committed.
  jobs::Verdict complete_beside_a_reclaim(std::optional<std::string> throttle_key) {
    run(store_->enqueue({{.kind = "kind", .payload = "{}", .throttle_key = std::move(throttle_key)}}));
    const jobs::ClaimedJob claimed = run(store_->claim({"worker", {"kind"}, 1})).at(0);
    const LockSession reclaim(*server_);
    reclaim.execute("BEGIN");
    reclaim.execute(
        "UPDATE job_service.jobs SET attempts = attempts + 1, lock_token = lock_token + 1, locked_at = now(), "
        "locked_by = 'another', lock_expires_at = now() + interval '1 hour' WHERE id = '" +
        claimed.id.text() + "'");
    std::optional<std::vector<jobs::Verdict>> verdicts;
    std::vector<jobs::Completion> completions{{{claimed.id, claimed.token}}};
    asio::co_spawn(io_, store_->complete(std::move(completions)),
                   [&](std::exception_ptr error, std::vector<jobs::Verdict> given) {
                     if (error) std::rethrow_exception(error);
                     verdicts = std::move(given);
                   });
    EXPECT_TRUE(eventually([&] { return somebody_waits(); }));
    reclaim.execute("COMMIT");
    io_.restart();
    while (!verdicts) io_.run_one();
    EXPECT_EQ(run(store_->find(claimed.id)).value().locked_by, "another");
    return verdicts->at(0);
  }

  SystemClock clock_;
  SeededRandom random_{1};
  // Two starts of a key of "spaced" are half a second apart.
  const jobs::JobKinds kinds_{
      std::map<std::string, jobs::JobKind>{{"spaced", {.throttle = {.concurrency = 3, .per_second = 2}}},
                                           {"single", {.max_attempts = 1, .throttle = {.concurrency = 1}}}}};
  postgres::EngineThread thread_;
  std::optional<PostgresServer> server_;
  std::optional<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlJobStore> store_;
};

TEST_P(PostgresLateEnds, a_completion_that_waits_for_a_reclaim_is_refused) {
  EXPECT_EQ(complete_beside_a_reclaim(std::nullopt), jobs::Verdict::stale_lock);
  EXPECT_EQ(complete_beside_a_reclaim("a key"), jobs::Verdict::stale_lock);
}

TEST_P(PostgresLateEnds, a_start_during_the_end_of_another_job_of_the_key_delays_the_next_start) {
  const jobs::NewJob spaced{.kind = "spaced", .payload = "{}", .throttle_key = "a key"};
  const std::vector<jobs::Enqueued> added = run(store_->enqueue({spaced, spaced, spaced}));
  const auto find = [&](size_t i) { return run(store_->find(added[i].id)).value(); };
  const jobs::ClaimedJob first = run(store_->claim({"worker", {"spaced"}, 1})).at(0);
  ASSERT_TRUE(eventually([&] { return find(1).run_after < clock_.wall(); }));

  // The end has the key's lock and waits for the job's.
  const LockSession holder(*server_);
  holder.execute("BEGIN");
  holder.execute("SELECT 1 FROM job_service.jobs WHERE id = '" + first.id.text() + "' FOR UPDATE");
  std::vector<jobs::Completion> completions{{{first.id, first.token}}};
  bool ended = false;
  asio::co_spawn(io_, store_->complete(std::move(completions)), [&](std::exception_ptr error, const auto&) {
    if (error) std::rethrow_exception(error);
    ended = true;
  });
  ASSERT_TRUE(eventually([&] { return somebody_waits(); }));
  bool claimed = false;
  asio::co_spawn(io_, store_->claim({"worker", {"spaced"}, 1}), [&](std::exception_ptr error, const auto&) {
    if (error) std::rethrow_exception(error);
    claimed = true;
  });
  ASSERT_TRUE(eventually([&] { return find(1).status == jobs::JobStatus::running; }));
  holder.execute("COMMIT");
  io_.restart();
  while (!ended || !claimed) io_.run_one();

  EXPECT_GE(find(2).run_after, find(1).locked_at.value() + 500ms);
}

TEST_P(PostgresLateEnds, a_slot_freed_by_an_end_that_waited_goes_to_a_job_added_meanwhile) {
  const auto job_of = [](std::string key) {
    return jobs::NewJob{.kind = "single", .payload = "{}", .throttle_key = std::move(key)};
  };
  run(store_->enqueue({job_of("first"), job_of("second")}));
  std::vector<jobs::Completion> completions;
  for (const jobs::ClaimedJob& job : run(store_->claim({"worker", {"single"}, 2}))) {
    completions.push_back({{job.id, job.token}, std::nullopt, job.kind, job.throttle_key});
  }
  ASSERT_EQ(completions.size(), 2U);

  // The end of both waits for the lock of the first key.
  const LockSession holder(*server_);
  holder.execute("BEGIN");
  holder.execute("SELECT 1 FROM job_service.throttle_states WHERE throttle_key = 'first' FOR UPDATE");
  bool ended = false;
  asio::co_spawn(io_, store_->complete(std::move(completions)), [&](std::exception_ptr error, const auto&) {
    if (error) std::rethrow_exception(error);
    ended = true;
  });
  ASSERT_TRUE(eventually([&] { return somebody_waits(); }));
  run(store_->enqueue({job_of("second")}));
  holder.execute("COMMIT");
  io_.restart();
  while (!ended) io_.run_one();

  EXPECT_EQ(run(database_->read("SELECT count(*) FROM jobs WHERE slot = 1")).one().integer(0), 1);
}

TEST_P(PostgresLateEnds, a_retry_takes_the_throttle_key_that_its_job_has_when_it_is_locked) {
  run(store_->enqueue({{.kind = "single", .payload = "{}", .throttle_key = "before"}}));
  const jobs::ClaimedJob job = run(store_->claim({"worker", {"single"}, 1})).at(0);
  run(store_->fail({{{job.id, job.token}, "an error"}}));
  ASSERT_EQ(run(store_->find(job.id)).value().status, jobs::JobStatus::dead);

  // As if it had been retried, handed on to another key, and had died again.
  const LockSession holder(*server_);
  holder.execute("BEGIN");
  holder.execute("SET LOCAL session_replication_role = replica");
  holder.execute("UPDATE job_service.finished_jobs SET throttle_key = 'after'");
  std::optional<bool> revived;
  asio::co_spawn(io_, store_->retry(job.id), [&](std::exception_ptr error, std::optional<bool> given) {
    if (error) std::rethrow_exception(error);
    revived = given.value();
  });
  ASSERT_TRUE(eventually([&] { return somebody_waits(); }));
  holder.execute("COMMIT");
  io_.restart();
  while (!revived) io_.run_one();

  EXPECT_TRUE(*revived);
  EXPECT_EQ(run(database_->read("SELECT count(*) FROM jobs WHERE slot = 1")).one().integer(0), 1);
}

TEST_P(PostgresLateEnds, a_throttle_key_that_is_used_while_it_is_looked_at_is_not_forgotten) {
  run(store_->enqueue({{.kind = "spaced", .payload = "{}", .throttle_key = "a key"}}));
  const jobs::ClaimedJob claimed = run(store_->claim({"worker", {"spaced"}, 1})).at(0);
  run(store_->complete({{{claimed.id, claimed.token}}}));
  const auto set_start = [&](const LockSession& session, const std::string& when) {
    session.execute("UPDATE job_service.throttle_states SET look_at = NULL, last_start = " + when);
  };
  const LockSession user(*server_);
  set_start(user, "now() - interval '2 days'");

  // The key is found idle, and cannot be locked yet.
  user.execute("BEGIN");
  user.execute("LOCK TABLE job_service.throttle_states IN EXCLUSIVE MODE");
  bool ended = false;
  asio::co_spawn(io_, store_->forget_idle_keys(100), [&](std::exception_ptr error, size_t) {
    if (error) std::rethrow_exception(error);
    ended = true;
  });
  ASSERT_TRUE(eventually([&] { return somebody_waits(); }));
  set_start(user, "now()");
  user.execute("COMMIT");
  io_.restart();
  while (!ended) io_.run_one();

  EXPECT_EQ(run(database_->read("SELECT count(*) FROM throttle_keys")).one().integer(0), 1);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresLateEnds, testing::Values(15, 18));

}  // namespace
}  // namespace sluice::test
