// What leases cost: the CPU of keeping 10,000 alive, by engine; and 64 callers who acquire and release, journaled
// memory against a row each.
//
//   bench_leases [both|kept|journal] [SECONDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "adapters/memory/memory_leases.h"
#include "adapters/redis/coordination/redis_leases.h"
#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "coordination/lease_keeper.h"
#include "runtime/system_clock.h"
#include "tests/support/redis_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice {
namespace {

constexpr int keys = 10'000;
constexpr Duration ttl = 30s;
constexpr double most_cpu = 0.01;  // of one core
constexpr int callers = 64;

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

using Keeper = coordination::LeaseKeeper<coordination::Leases>;

Task<> keep(Keeper& keeper, Clock& clock, int seconds, double& cpu) {
  std::vector<std::shared_ptr<Keeper::Kept>> kept;
  for (int i = 0; i < keys; ++i) {
    std::string key = fmt::format("item/{}", i);
    kept.push_back(co_await keeper.acquire(std::move(key), ttl));
  }
  co_await clock.sleep_for(ttl / 3);  // so that all have been renewed once, in their batches
  const double before = cpu_seconds();
  co_await clock.sleep_for(std::chrono::seconds(seconds));
  cpu = (cpu_seconds() - before) / seconds;
  for (const auto& lease : kept) check(!lease->lost().stop_requested(), "a lease was lost");
}

Task<> keep_and_close(Keeper& keeper, TaskScope& scope, Clock& clock, int seconds, double& cpu) {
  co_await keep(keeper, clock, seconds, cpu);
  co_await scope.close();
}

// The share of one core that keeping them costs this process.
double cpu_of_keeping(coordination::Leases& leases, asio::io_context& io, SystemClock& clock, int seconds) {
  SeededRandom random(1);
  TaskScope scope(io.get_executor());
  Keeper keeper(leases, clock, random, "bench", io.get_executor());
  keeper.start(scope);
  double cpu = 0;
  bool ended = false;
  asio::co_spawn(io, keep_and_close(keeper, scope, clock, seconds, cpu), [&ended](const std::exception_ptr& error) {
    check(!error, "keeping failed");
    ended = true;
  });
  while (!ended) io.run_one();
  return cpu;
}

bool report(const char* engine, double cpu) {
  std::printf("%d leases of %lld s in %s: %.2f %% of one core (at most %.0f %%)\n", keys,
              static_cast<long long>(ttl / 1s), engine, 100 * cpu, 100 * most_cpu);
  std::fflush(stdout);
  return cpu <= most_cpu;
}

bool keep_in_memory(int seconds) {
  SystemClock clock;
  asio::io_context io;
  memory::MemoryLeases leases(clock);
  return report("memory", cpu_of_keeping(leases, io, clock, seconds));
}

bool keep_in_journal(int seconds) {
  SystemClock clock;
  asio::io_context io;
  const test::TemporaryFolder folder;
  sqlite::SqliteDatabase database({.folder = folder.path()}, clock);
  memory::MemoryLeases leases(clock, &database.journal());
  return report("journaled memory", cpu_of_keeping(leases, io, clock, seconds));
}

double redis_cpu_seconds(const test::RedisServer& server) {
  const std::string info = server.cli({"INFO", "cpu"});
  double total = 0;
  for (const std::string name : {"used_cpu_sys:", "used_cpu_user:"}) {
    total += std::strtod(info.c_str() + info.find(name) + name.size(), nullptr);
  }
  return total;
}

bool keep_in_redis(int seconds) {
  SystemClock clock;
  asio::io_context io;
  const test::RedisServer server;
  redis::Redis redis({.url = server.url()}, io.get_executor(), clock);
  redis::RedisLeases leases(redis);
  const double before = redis_cpu_seconds(server);
  const Instant start = clock.now();
  const bool cheap = report("Redis", cpu_of_keeping(leases, io, clock, seconds));
  const double spent = redis_cpu_seconds(server) - before;
  std::printf("  Redis itself, acquiring included: %.2f %% of one core\n",
              100 * spent / std::chrono::duration<double>(clock.now() - start).count());
  bool closed = false;
  asio::co_spawn(io, redis.close(), [&closed](const std::exception_ptr&) { closed = true; });
  io.restart();
  while (!closed) io.run_one();
  return cheap;
}

bool keep_everywhere(int seconds) {
  bool cheap = keep_in_memory(seconds);
  cheap = keep_in_journal(seconds) && cheap;
  cheap = keep_in_redis(seconds) && cheap;
  return cheap;
}

template <class Port>
Task<> acquire_and_release(Port& leases, Clock& clock, std::string key, Instant end, int64_t& operations) {
  while (clock.now() < end) {
    const auto token = co_await leases.acquire(key, "bench", 1min);
    const typename Port::Held held{key, token.value()};
    co_await leases.release(held);
    operations += 2;
  }
}

template <class Port>
double operations_a_second(Port& leases, int seconds) {
  SystemClock clock;
  asio::io_context io;
  int64_t operations = 0;
  const Instant end = clock.now() + std::chrono::seconds(seconds);
  for (int i = 0; i < callers; ++i) {
    asio::co_spawn(io, acquire_and_release(leases, clock, fmt::format("key/{}", i), end, operations),
                   [](const std::exception_ptr& error) { check(!error, "a call failed"); });
  }
  io.run();
  return static_cast<double>(operations) / seconds;
}

void compare_journal(int seconds) {
  SystemClock clock;
  const test::TemporaryFolder folder;
  sqlite::SqliteDatabase database({.folder = folder.path()}, clock);
  sql::SqlFencedLeases rows(database);
  memory::MemoryLeases journaled(clock, &database.journal());
  const double by_row = operations_a_second<coordination::FencedLeases>(rows, seconds);
  const double by_journal = operations_a_second<coordination::Leases>(journaled, seconds);
  std::printf("64 callers: journaled leases %.0f operations/s, a row each %.0f, ratio %.1f\n", by_journal, by_row,
              by_journal / by_row);
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) {
  using namespace sluice;
  const std::string part = count > 1 ? arguments[1] : "both";
  if (part != "both" && part != "kept" && part != "journal") {
    std::fputs("usage: bench_leases [both|kept|journal] [SECONDS]\n", stderr);
    return 2;
  }
  const int seconds = count > 2 ? std::atoi(arguments[2]) : 20;
  if (part != "kept") compare_journal(seconds / 4);
  return part == "journal" || keep_everywhere(seconds) ? 0 : 1;
}
