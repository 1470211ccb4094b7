// PostgreSQL is killed while a limit in it is drawn from.
#include <future>

#include <gtest/gtest.h>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "runtime/deadline.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/window_check.h"

namespace sluice::test {
namespace {

using coordination::Drawn;

struct Seen {
  bool stop = false;
  std::vector<Happened> given;
  int failed = 0;
};

Task<> draw_often(coordination::SharedLimit& limit, Clock& clock, Seen& seen) {
  while (!seen.stop) {
    Drawn drawn;
    bool failed = false;
    try {
      drawn = co_await limit.draw(0, 1, 4);
    } catch (const EngineUnavailable&) {
      failed = true;
    }
    if (drawn.given > 0) seen.given.push_back({drawn.stamp, drawn.given});
    if (failed) ++seen.failed;
    if (failed) co_await clock.sleep_for(10ms);
  }
}

Task<> wait_for_draws(const Seen& seen, size_t count, Clock& clock) {
  const Deadline patience = Deadline::after(clock, 1min);
  while (seen.given.size() < count && !patience.passed(clock)) co_await clock.sleep_for(10ms);
  EXPECT_GE(seen.given.size(), count);
}

void kill_and_start(PostgresServer& server) {
  server.kill();
  server.start();
}

Task<> kill_twice(PostgresServer& server, Clock& clock, Seen& seen) {
  for (int i = 0; i < 2; ++i) {
    co_await wait_for_draws(seen, seen.given.size() + 20, clock);
    const auto back = std::async(std::launch::async, kill_and_start, std::ref(server));
    while (back.wait_for(0s) != std::future_status::ready) co_await clock.sleep_for(10ms);
  }
  co_await wait_for_draws(seen, seen.given.size() + 20, clock);
  seen.stop = true;
}

class PostgresLimit : public TaskFixture {};

TEST_F(PostgresLimit, no_window_is_broken_by_a_server_killed_in_the_middle) {
  SLUICE_NEEDS(PostgresServer::why_missing(15));
  SystemClock clock;
  PostgresServer server({.durable = true});
  postgres::EngineThread thread;
  postgres::PostgresDatabase database({.url = server.url(), .user = server.user(), .password = server.password()},
                                      thread, clock);
  run(database.write("CREATE TABLE limits (name text PRIMARY KEY, state bytea NOT NULL)"));
  sql::SqlLimit limit(
      database, {.name = "killed", .window = {{"all", 30, 200ms}}, .priority = {{.name = "ALL", .windows = {"all"}}}},
      clock);
  Seen seen;
  std::vector<Task<>> tasks;
  for (int i = 0; i < 4; ++i) tasks.push_back(draw_often(limit, clock, seen));
  tasks.push_back(kill_twice(server, clock, seen));
  for (const auto& outcome : run_all(std::move(tasks))) EXPECT_FALSE(outcome.error);
  EXPECT_GT(seen.failed, 0);
  EXPECT_EQ(broken_window(seen.given, 30, 220ms), "");
}

}  // namespace
}  // namespace sluice::test
