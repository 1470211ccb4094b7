// What the PostgreSQL driver promises beyond the database contract.
#include <gtest/gtest.h>

#include "adapters/postgres/connection.h"
#include "runtime/deadline.h"
#include "runtime/system_clock.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using sql::Params;
using sql::Rows;
using sql::Tx;
using sql::TxTask;

class PostgresDriver : public TaskFixture {
 protected:
  void SetUp() override { SLUICE_NEEDS(PostgresServer::why_missing(15)); }

  // Opens a database with `config`, and drops the tables of earlier tests.
  sql::Database& open(postgres::PostgresConfig config) {
    const postgres::PostgresConfig login = postgres_config(shared_postgres());
    if (config.url.empty()) config.url = login.url;
    config.user = login.user;
    config.password = login.password;
    return *databases_.emplace_back(std::make_unique<postgres::PostgresDatabase>(std::move(config), thread_, clock_));
  }

  void remake_table(sql::Database& database, sql::Statement create) {
    run(database.write("DROP TABLE IF EXISTS driver_rows"));
    run(database.write(create));
  }

  static Task<> insert(sql::Database& database, int64_t id) {
    co_await database.write("INSERT INTO driver_rows (id) VALUES ($1)", Params(id));
  }

  // Of another program.
  std::unique_ptr<postgres::Connection> open_session() {
    return run(postgres::Connection::open(io_.get_executor(), postgres_config(shared_postgres()), clock_));
  }
  void execute(postgres::Connection& session, std::string_view text) {
    const Params none;
    std::vector<postgres::Step> steps{{text, none}};
    const postgres::PipelineOutcome outcome = run(session.run(std::move(steps), 1min));
    ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  }
  // Its limits are short, and this machine may stand still for longer.
  bool answers(sql::Database& database) {
    return eventually([&] {
      try {
        return run(database.read("SELECT 1")).one().integer(0) == 1;
      } catch (const EngineUnavailable&) {
        return false;
      }
    });
  }

  int64_t connections(sql::Database& observer, const std::string& service) {
    Params params("sluice " + service);
    const Rows rows =
        run(observer.read("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", std::move(params)));
    return rows.one().integer(0);
  }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::vector<std::unique_ptr<postgres::PostgresDatabase>> databases_;
};

TEST_F(PostgresDriver, many_failing_writes_among_many_all_fail_alone) {
  sql::Database& database = open({.batch_connections = 1});
  remake_table(database, "CREATE TABLE driver_rows (id bigint PRIMARY KEY CHECK (id % 7 <> 3))");
  std::vector<Task<>> writes;
  for (int64_t id = 0; id < 200; ++id) writes.push_back(insert(database, id));
  const auto outcomes = run_all(std::move(writes));
  for (size_t id = 0; id < 200; ++id) EXPECT_EQ(static_cast<bool>(outcomes[id].error), id % 7 == 3) << id;
}

TEST_F(PostgresDriver, a_commit_that_fails_is_traced_to_its_statement) {
  sql::Database& database = open({.batch_connections = 1});
  remake_table(database, "CREATE TABLE driver_rows (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  std::vector<Task<>> writes;
  for (const int64_t id : {1, 2, 3, 3, 4, 5, 3, 6}) writes.push_back(insert(database, id));
  size_t failed = 0;
  for (const auto& outcome : run_all(std::move(writes))) {
    if (!outcome.error) continue;
    ++failed;
    EXPECT_THROW(std::rethrow_exception(outcome.error), sql::ConstraintViolation);
  }
  EXPECT_EQ(failed, 2u);
  EXPECT_EQ(run(database.read("SELECT count(*) FROM driver_rows")).one().integer(0), 6);
}

TEST_F(PostgresDriver, hundreds_of_calls_share_few_connections) {
  sql::Database& database = open({.service = "few", .pool_max = 3});
  remake_table(database, "CREATE TABLE driver_rows (id bigint PRIMARY KEY)");
  std::vector<Task<>> writes;
  for (int64_t id = 0; id < 500; ++id) writes.push_back(insert(database, id));
  for (const auto& outcome : run_all(std::move(writes))) EXPECT_FALSE(outcome.error);
  sql::Database& observer = open({.service = "observer"});
  EXPECT_LE(connections(observer, "few"), 3);
}

TxTask<> sleep_a_little(Tx& tx) {
  co_await tx.execute("SELECT 1 FROM pg_sleep(0.1)");
}

TEST_F(PostgresDriver, surplus_connections_end_when_idle_and_the_kept_stay) {
  sql::Database& database = open({.service = "idle", .pool_max = 4, .pool_kept = 1, .pool_idle = 50ms});
  std::vector<Task<>> transactions;
  for (int i = 0; i < 4; ++i) transactions.push_back(database.transact(sleep_a_little));
  for (const auto& outcome : run_all(std::move(transactions))) EXPECT_FALSE(outcome.error);
  sql::Database& observer = open({.service = "observer"});
  const auto end = clock_.now() + 1min;
  while (connections(observer, "idle") > 1 && clock_.now() < end) run(clock_.sleep_for(20ms));
  EXPECT_EQ(connections(observer, "idle"), 1);
}

TEST_F(PostgresDriver, old_connections_are_replaced) {
  sql::Database& database = open({.pool_max = 1, .pool_kept = 1, .pool_life = 50ms});
  const sql::Statement backend{"SELECT pg_backend_pid()"};
  const int64_t first = run(database.read(backend)).one().integer(0);
  const auto end = clock_.now() + 1min;
  int64_t now = first;
  while (now == first && clock_.now() < end) {
    run(clock_.sleep_for(20ms));
    now = run(database.read(backend)).one().integer(0);
  }
  EXPECT_NE(now, first);
}

TxTask<> wait_for_lock(Tx& tx) {
  co_await tx.execute("SELECT pg_advisory_xact_lock(4711)");
}

TEST_F(PostgresDriver, a_call_that_gets_no_connection_in_time_fails) {
  sql::Database& database =
      open({.pool_max = 1, .pool_timeout = 100ms, .statement_timeout = 1min, .lock_timeout = 1min});
  ASSERT_TRUE(answers(database));  // there is a connection
  const auto other = open_session();
  execute(*other, "SELECT pg_advisory_lock(4711)");
  bool ended = false;
  asio::co_spawn(io_, database.transact(wait_for_lock), [&](const std::exception_ptr& error) {
    EXPECT_FALSE(error);
    ended = true;
  });
  std::vector<Task<>> more;
  for (int i = 0; i < 8; ++i) more.push_back(database.transact(wait_for_lock));
  for (const auto& outcome : run_all(std::move(more))) {
    ASSERT_TRUE(outcome.error);
    EXPECT_THROW(std::rethrow_exception(outcome.error), EngineUnavailable);
  }
  EXPECT_FALSE(ended);
  execute(*other, "SELECT pg_advisory_unlock(4711)");
  while (!ended) io_.run_one();
}

TxTask<> sleep_long(Tx& tx) {
  co_await tx.execute("SELECT 1 FROM pg_sleep(60)");
}

TEST_F(PostgresDriver, the_server_ends_a_statement_of_a_transaction_that_takes_too_long) {
  sql::Database& database = open({.pool_max = 1, .statement_timeout = 500ms});
  EXPECT_THROW(run(database.transact(sleep_long)), DeadlineExceeded);
  EXPECT_TRUE(answers(database));
}

TEST_F(PostgresDriver, a_silent_connection_is_given_up_and_replaced) {
  sql::Database& database = open({.pool_max = 1, .statement_timeout = 100ms, .silence_grace = 100ms});
  EXPECT_THROW(run(database.write("SELECT 1 FROM pg_sleep(60)")), DeadlineExceeded);
  EXPECT_TRUE(answers(database));
}

TEST_F(PostgresDriver, a_cancelled_caller_returns_at_once_and_harms_nobody) {
  sql::Database& database = open({.statement_timeout = 50s});
  const Deadline deadline = Deadline::after(clock_, 100ms);
  const Instant start = clock_.now();
  EXPECT_THROW(run(with_deadline(clock_, deadline, "test", database.read("SELECT 1 FROM pg_sleep(60)"))),
               DeadlineExceeded);
  EXPECT_LT(clock_.now() - start, 40s) << "the statement's own limit is fifty";
  EXPECT_EQ(run(database.read("SELECT 1")).one().integer(0), 1);
}

TxTask<> lock_row(Tx& tx) {
  co_await tx.execute("UPDATE driver_rows SET id = id");
}

TEST_F(PostgresDriver, waiting_too_long_for_a_row_lock_may_be_repeated_later) {
  sql::Database& database = open({.lock_timeout = 100ms});
  remake_table(database, "CREATE TABLE driver_rows (id bigint PRIMARY KEY)");
  run(insert(database, 1));
  const auto other = open_session();
  execute(*other, "BEGIN");
  execute(*other, "UPDATE driver_rows SET id = id");
  EXPECT_THROW(run(database.transact(lock_row)), EngineUnavailable);
  execute(*other, "COMMIT");
  run(database.transact(lock_row));
}

TEST_F(PostgresDriver, without_a_server_calls_fail_soon) {
  sql::Database& database = open({.url = "postgresql://127.0.0.1:1/sluice"});
  const Instant start = clock_.now();
  for (int i = 0; i < 20; ++i) EXPECT_THROW(run(database.read("SELECT 1")), EngineUnavailable);
  EXPECT_LT(clock_.now() - start, 50s) << "with the time for connecting they would take a hundred";
}

TEST_F(PostgresDriver, relaxed_reads_come_from_the_replica_and_from_the_primary_while_it_is_down) {
  PostgresServer replica;
  {
    sql::Database& direct = open({.url = replica.url()});
    run(direct.write("CREATE TABLE which AS SELECT 'replica' AS name"));
    databases_.clear();
  }
  sql::Database& database = open({.replica_url = replica.url()});
  run(database.write("DROP TABLE IF EXISTS which"));
  run(database.write("CREATE TABLE which AS SELECT 'primary' AS name"));
  const sql::Statement which{"SELECT name FROM which"};
  EXPECT_EQ(run(database.read(which)).one().text(0), "primary");
  EXPECT_EQ(run(database.read_relaxed(which)).one().text(0), "replica");
  replica.kill();
  EXPECT_EQ(run(database.read_relaxed(which)).one().text(0), "primary");
  replica.start();
  const auto end = clock_.now() + 1min;
  std::string from;
  while (from != "replica" && clock_.now() < end) from = run(database.read_relaxed(which)).one().text(0);
  EXPECT_EQ(from, "replica");
}

TEST_F(PostgresDriver, the_servers_types_become_ours) {
  sql::Database& database = open({});
  const Rows rows =
      run(database.read("SELECT 1::smallint, 2::integer, 0.5::real, sum(n::bigint), avg(n), '{\"a\": 1}'::jsonb, "
                        "'{}'::json, 'x'::varchar, 'y'::name, 'z'::\"char\", "
                        "'2026-05-01 11:00:00.000001'::timestamp, NULL::uuid FROM generate_series(1, 4) AS n"));
  const sql::Row& row = rows.one();
  EXPECT_EQ(row.integer(0), 1);
  EXPECT_EQ(row.integer(1), 2);
  EXPECT_EQ(row.real(2), 0.5);
  EXPECT_EQ(row.integer(3), 10);
  EXPECT_EQ(row.text(4), "2.5000000000000000");
  EXPECT_EQ(row.text(5), "{\"a\": 1}");
  EXPECT_EQ(row.text(6), "{}");
  EXPECT_EQ(row.text(7) + row.text(8) + row.text(9), "xyz");
  EXPECT_EQ(row.time(10), *parse_time("2026-05-01T11:00:00.000001Z"));
  EXPECT_TRUE(row.is_null(11));
}

TEST_F(PostgresDriver, a_type_without_a_counterpart_is_refused_and_harms_nobody) {
  sql::Database& database = open({});
  EXPECT_THROW(run(database.read("SELECT point(1, 2)")), sql::StatementError);
  EXPECT_EQ(run(database.read("SELECT 1")).one().integer(0), 1);
}

TEST_F(PostgresDriver, answers_bigger_than_any_buffer_pass_both_ways) {
  sql::Database& database = open({.pool_max = 1, .batch_connections = 1});
  const std::string big(2'000'000, 'b');
  std::vector<Task<Rows>> reads;
  for (int i = 0; i < 16; ++i) reads.push_back(database.read("SELECT $1::text", Params(big)));
  for (const auto& outcome : run_all(std::move(reads))) EXPECT_EQ(outcome.value->one().text(0), big);
}

}  // namespace
}  // namespace sluice::test
