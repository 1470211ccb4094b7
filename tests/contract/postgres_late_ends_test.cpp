// Ends of jobs that meet a reclaim which is not committed yet.
#include "adapters/postgres/migrations.h"
#include "adapters/sql/sql_job_store.h"
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
    database_.emplace(
        postgres::PostgresConfig{
            .url = server_->url(), .user = "job_service", .password = service_password("job_service")},
        thread_, clock_);
    store_.emplace(*database_, kinds_, clock_, random_);
  }

  // Somebody waits for the lock of another.
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
  const jobs::JobKinds kinds_;
  postgres::EngineThread thread_;
  std::optional<PostgresServer> server_;
  std::optional<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlJobStore> store_;
};

TEST_P(PostgresLateEnds, a_completion_that_waits_for_a_reclaim_is_refused) {
  EXPECT_EQ(complete_beside_a_reclaim(std::nullopt), jobs::Verdict::stale_lock);
  EXPECT_EQ(complete_beside_a_reclaim("a key"), jobs::Verdict::stale_lock);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresLateEnds, testing::Values(15, 18));

}  // namespace
}  // namespace sluice::test
