// PostgreSQL lets no further connection in, and then the last one ends.
//
// The driver's clock stands still here: what a call is told, it is told because of what happened, not because time
// passed.
#include <gtest/gtest.h>

#include "runtime/deadline.h"
#include "runtime/system_clock.h"
#include "runtime/virtual_clock.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using sql::Tx;
using sql::TxTask;

// Uses its connection until the server has turned another one away, and for so long that the driver knows of it.
TxTask<> stay_until_refused(Tx& tx, std::string role) {
  const std::string refusal = fmt::format("too many connections for role \"{}\"", role);
  while (!shared_postgres().log().contains(refusal)) co_await tx.execute("SELECT 1");
  for (int i = 0; i < 20; ++i) co_await tx.execute("SELECT 1");
}

TxTask<> stay_until_refused_and_be_cut_off(Tx& tx, std::string role) {
  co_await stay_until_refused(tx, role);
  co_await tx.execute("SELECT pg_terminate_backend(pg_backend_pid())");
}

class PostgresRefusal : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    postgres::PostgresConfig config = postgres_config(shared_postgres());
    admin_.emplace(config, thread_, clock_);
    const std::string create = fmt::format("CREATE ROLE \"{}\" LOGIN PASSWORD 'x' CONNECTION LIMIT 1", role_);
    run(admin_->write(create.c_str()));
    // Once services have been set up here, a login needs an explicit right to connect.
    const std::string admit = fmt::format(
        "DO $$ BEGIN EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), '{}'); END $$", role_);
    run(admin_->write(admit.c_str()));
    config.user = role_;
    config.password = "x";
    config.pool_max = 2;
    config.pool_kept = 1;
    database_.emplace(config, thread_, still_);
    run(database_->read("SELECT 1"));
  }

  Task<sql::Rows> read_in_time() {
    return with_deadline(clock_, Deadline::after(clock_, 20s), "the test", database_->read("SELECT 1"));
  }
  // While the transaction holds the only connection. Whether the read succeeded or why not.
  std::exception_ptr read_beside(Task<> transaction) {
    std::exception_ptr error;
    std::vector<Task<>> both;
    both.push_back(std::move(transaction));
    both.push_back(read_into(error));
    run_all(std::move(both));
    return error;
  }
  Task<> read_into(std::exception_ptr& error) {
    try {
      co_await read_in_time();
    } catch (...) {
      error = std::current_exception();
    }
  }
  bool has_connections() {
    sql::Params role(role_);
    return !run(admin_->read("SELECT 1 FROM pg_stat_activity WHERE usename = $1", std::move(role))).empty();
  }

  const std::string role_ = unique("one at a time");
  SystemClock clock_;
  VirtualClock still_;
  postgres::EngineThread thread_;
  std::optional<postgres::PostgresDatabase> admin_;
  std::optional<postgres::PostgresDatabase> database_;
};

// The caller learns that there is no server although the ended connection still counts against the limit.
TEST_F(PostgresRefusal, who_waits_when_the_last_connection_ends_is_answered_or_told) {
  const std::exception_ptr error = read_beside(database_->transact(stay_until_refused_and_be_cut_off, role_));
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const DeadlineExceeded&) {
    FAIL() << "it was left waiting";
  } catch (const EngineUnavailable&) {
  }
}

TEST_F(PostgresRefusal, who_comes_after_the_last_connection_ended_gets_a_new_one) {
  EXPECT_FALSE(read_beside(database_->transact(stay_until_refused, role_)));
  const std::string more = fmt::format("ALTER ROLE \"{}\" CONNECTION LIMIT 2", role_);
  run(admin_->write(more.c_str()));
  sql::Params role(role_);
  run(admin_->write("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", std::move(role)));
  ASSERT_TRUE(eventually([&] { return !has_connections(); }));
  EXPECT_EQ(run(read_in_time()).one().integer(0), 1);
}

}  // namespace
}  // namespace sluice::test
