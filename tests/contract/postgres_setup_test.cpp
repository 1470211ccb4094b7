#include "adapters/postgres/postgres_setup.h"

#include <latch>

#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "adapters/postgres/migrations.h"
#include "runtime/system_clock.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using postgres::PostgresConfig;
using postgres::PostgresDatabase;
using postgres::service_names;

class PostgresSetupTest : public TaskFixture {
 protected:
  void SetUp() override { SLUICE_NEEDS(PostgresServer::why_missing(15)); }

  std::unique_ptr<PostgresDatabase> log_in(std::string_view service, const std::string& url) {
    const PostgresConfig config{.url = url, .user = std::string(service), .password = service_password(service)};
    return std::make_unique<PostgresDatabase>(config, thread_, clock_);
  }

  // The text must outlive the call: a Statement only refers to it.
  void execute(sql::Database& database, const std::string& text) {
    run(database.write(sql::Statement(std::string_view(text))));
  }

  SystemClock clock_;
  postgres::EngineThread thread_;
};

TEST_F(PostgresSetupTest, every_login_is_refused_on_every_other_schema) {
  PostgresServer& server = shared_postgres();
  postgres::PostgresSetup setup(service_setup(server), thread_, clock_);
  run(setup.create_services());
  std::vector<std::unique_ptr<PostgresDatabase>> logins;
  for (const std::string_view service : service_names) {
    logins.push_back(log_in(service, server.url()));
    execute(*logins.back(), "CREATE TABLE IF NOT EXISTS rights (a int)");  // in its own schema, by search_path
    execute(*logins.back(), fmt::format("INSERT INTO {}.rights VALUES (1)", service));
  }
  for (const auto& login : logins) {
    const size_t own = static_cast<size_t>(&login - logins.data());
    for (size_t other = 0; other < service_names.size(); ++other) {
      if (other == own) continue;
      const std::string_view schema = service_names[other];
      SCOPED_TRACE(fmt::format("{} on {}", service_names[own], schema));
      for (const std::string& text :
           {fmt::format("SELECT * FROM {}.rights", schema), fmt::format("INSERT INTO {}.rights VALUES (2)", schema),
            fmt::format("CREATE TABLE {}.intruder (a int)", schema), fmt::format("DROP TABLE {}.rights", schema)}) {
        EXPECT_THROW(execute(*login, text), sql::StatementError) << text;
      }
    }
    EXPECT_THROW(execute(*login, "CREATE TABLE public.intruder (a int)"), sql::StatementError);
    EXPECT_THROW(execute(*login, "CREATE SCHEMA intruder"), sql::StatementError);
    EXPECT_THROW(execute(*login, "CREATE ROLE intruder"), sql::StatementError);
  }
}

TEST_F(PostgresSetupTest, it_can_be_repeated_also_at_the_same_time) {
  PostgresServer& server = shared_postgres();
  std::vector<postgres::PostgresSetup> setups;
  for (int i = 0; i < 3; ++i) setups.emplace_back(service_setup(server), thread_, clock_);
  std::vector<Task<>> runs;
  for (auto& setup : setups) runs.push_back(setup.create_services());
  for (const auto& outcome : run_all(std::move(runs))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
  }
  EXPECT_EQ(run(log_in("common", server.url())->read("SELECT 1")).one().integer(0), 1);
}

TEST_F(PostgresSetupTest, migrations_run_as_the_service_that_owns_the_schema) {
  PostgresServer& server = shared_postgres();
  postgres::PostgresSetup setup(service_setup(server), thread_, clock_);
  run(setup.create_services());
  const auto first = run(setup.migrate(postgres::migrations()));
  ASSERT_FALSE(first.empty());
  for (const auto& set : run(setup.migrate(postgres::migrations()))) EXPECT_TRUE(set.numbers.empty());
  const auto users = log_in("user_service", server.url());
  const auto owners =
      run(users->read("SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'user_service'"));
  EXPECT_EQ(owners.one().text(0), "user_service");
}

TEST_F(PostgresSetupTest, the_logins_limits_hold_behind_a_pooler) {
  SLUICE_NEEDS(PgBouncerServer::why_missing());
  PostgresServer& server = shared_postgres();
  postgres::SetupConfig config = service_setup(server);
  config.services = {{"job_service", service_password("job_service")}};
  const postgres::SetupConfig usual = config;
  config.statement_timeout = 2s;
  config.admin.url = shared_pgbouncer().url();
  postgres::PostgresSetup setup(config, thread_, clock_);
  run(setup.create_services());
  const auto jobs = log_in("job_service", shared_pgbouncer().url());
  EXPECT_EQ(run(jobs->read("SHOW search_path")).one().text(0), "job_service");
  const Instant start = clock_.now();
  EXPECT_THROW(run(jobs->write("SELECT 1 FROM pg_sleep(60)")), DeadlineExceeded);
  EXPECT_LT(clock_.now() - start, 30s);
  postgres::PostgresSetup usual_again(usual, thread_, clock_);
  run(usual_again.create_services());  // other tests log in as this service
}

constexpr sql::Statement count_up = "UPDATE counted SET n = n + 1";

sql::TxTask<> count(sql::Tx& tx) {
  co_await tx.execute(count_up);
}

// A process that is stopped inside a transaction, until it is woken.
struct Pause {
  std::latch begun{1};
  std::latch over{1};
};

sql::TxTask<> count_and_pause(sql::Tx& tx, Pause* pause) {
  co_await tx.execute(count_up);
  pause->begun.count_down();
  pause->over.wait();
}

TEST_F(PostgresSetupTest, what_a_paused_process_has_locked_is_had_by_who_waits_for_it) {
  PostgresServer& server = shared_postgres();
  postgres::PostgresSetup setup(service_setup(server), thread_, clock_);
  run(setup.create_services());
  const auto awake = log_in("user_service", server.url());
  execute(*awake, "DROP TABLE IF EXISTS counted");
  execute(*awake, "CREATE TABLE counted AS SELECT 0 AS n");

  postgres::EngineThread stopping;
  const PostgresConfig config{
      .url = server.url(), .user = "user_service", .password = service_password("user_service")};
  PostgresDatabase paused(config, stopping, clock_);
  Pause pause;
  std::future<void> counted =
      asio::co_spawn(thread_.executor(), paused.transact(count_and_pause, &pause), asio::use_future);
  pause.begun.wait();
  EXPECT_NO_THROW(run(awake->transact(count)));
  pause.over.count_down();
  EXPECT_THROW(counted.get(), EngineUnavailable);
  EXPECT_EQ(run(awake->read("SELECT n FROM counted")).one().integer(0), 1);
}

}  // namespace
}  // namespace sluice::test
