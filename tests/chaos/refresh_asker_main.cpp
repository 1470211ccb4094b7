// Asks for one item many times at once, as an instance of a server does. Started ten times by refresh_herd_test.
//
//   refresh_asker REDIS_URL ITEM COUNT POSTGRES_URL USER      (the password is in $PASSWORD)
//
// Prints "ready" when it has a connection, waits for SIGUSR1, asks, and prints a line "OUTCOME VERSION TIMES" for each
// different answer, then "done".
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>

#include "adapters/postgres/postgres_database.h"
#include "adapters/redis/coordination/redis_coalescing.h"
#include "adapters/sql/coordination/sql_version_floors.h"
#include "runtime/system_clock.h"
#include "runtime/task_scope.h"

namespace sluice::test {
namespace {

using coordination::RefreshAnswer;
using coordination::RefreshOutcome;
using Tally = std::map<std::pair<std::string_view, coordination::Version>, int>;

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

std::string_view name(RefreshOutcome outcome) {
  switch (outcome) {
    case RefreshOutcome::published: return "published";
    case RefreshOutcome::upgraded: return "upgraded";
    case RefreshOutcome::already: return "already";
    case RefreshOutcome::repeated: return "repeated";
  }
  return "";
}

Task<> ask(coordination::Coalescing& coalescing, std::string item, Tally& tally) {
  coordination::RefreshRequest request{.item = std::move(item)};
  const RefreshAnswer answer = co_await coalescing.request(std::move(request));
  ++tally[{name(answer.outcome), answer.message.version}];
}

Task<> ask_at_the_signal(redis::Redis& redis, coordination::VersionFloors& floors, std::string item, int count) {
  const Executor executor = co_await asio::this_coro::executor;
  asio::signal_set signals(executor, SIGUSR1);
  redis::Command ping("PING");
  co_await redis.run(std::move(ping));
  say("ready");
  co_await signals.async_wait(asio::use_awaitable);

  redis::RedisCoalescing coalescing(redis, floors, {.lanes = {{"only", 1min}}}, "herd");
  Tally tally;
  TaskScope scope(executor);
  for (int i = 0; i < count; ++i) scope.spawn("ask", ask(coalescing, item, tally));
  co_await scope.join();
  for (const auto& [answer, times] : tally) say(fmt::format("{} {} {}", answer.first, answer.second, times));
  say("done");
  co_await redis.close();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  using namespace sluice;
  if (count != 6) {
    std::fputs("usage: PASSWORD=... refresh_asker REDIS_URL ITEM COUNT POSTGRES_URL USER\n", stderr);
    return 2;
  }
  SystemClock clock;
  asio::io_context io;
  postgres::EngineThread thread;
  const postgres::PostgresConfig config{.url = arguments[4], .user = arguments[5], .password = std::getenv("PASSWORD")};
  postgres::PostgresDatabase database(config, thread, clock);
  sql::SqlVersionFloors floors(database);
  redis::Redis redis({.url = arguments[1], .connect_timeout = 30s, .command_timeout = 30s}, io.get_executor(), clock);
  auto done = asio::co_spawn(io, test::ask_at_the_signal(redis, floors, arguments[2], std::atoi(arguments[3])),
                             asio::use_future);
  io.run();
  done.get();
}
