// Takes chunks of a day and draws permits on the embedded database as fast as it can, and says so: a line on standard
// output means that it was acknowledged. Killed by limit_kill_test.
//
//   limit_spender FOLDER
#include <cstdio>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "adapters/sql/coordination/sql_day_budgets.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "runtime/system_clock.h"
#include "tests/chaos/limit_spender_plan.h"

namespace sluice::test {
namespace {

void say(const std::string& line) {
  check(write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "acknowledging");
}

Task<> take_chunks(coordination::DayBudgets& days, coordination::SharedLimit& limit) {
  while (true) {
    const Result<coordination::DayChunk, Duration> chunk = co_await days.take(0, 1, 7);
    check(chunk.has_value(), "the day is spent");
    say(fmt::format("chunk {} 0\n", chunk->permits));
    co_await limit.deposit(0, chunk->permits, chunk->lasts);
  }
}

Task<> draw_permits(coordination::SharedLimit& limit) {
  while (true) {
    const coordination::Drawn drawn = co_await limit.draw(0, 1, 3);
    if (drawn.given > 0) say(fmt::format("permits {} {}\n", drawn.given, drawn.stamp));
  }
}

void spend_until_killed(const char* folder) {
  SystemClock clock;
  sqlite::SqliteDatabase database({.folder = folder}, clock);
  sql::SqlDayBudgets days(database, spender_plan());
  sql::SqlLimit limit(database, spender_plan(), clock);
  asio::io_context io;
  const auto never_ends = [](const std::exception_ptr& error) { std::rethrow_exception(error); };
  for (int i = 0; i < 4; ++i) {
    asio::co_spawn(io, take_chunks(days, limit), never_ends);
    asio::co_spawn(io, draw_permits(limit), never_ends);
  }
  io.run();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: limit_spender FOLDER\n", stderr);
    return 2;
  }
  sluice::test::spend_until_killed(arguments[1]);
}
