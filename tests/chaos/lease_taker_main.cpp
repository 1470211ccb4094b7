// Takes and gives back journaled leases and denies tokens as fast as it can and says so: a line on standard output
// means that the answer arrived. Ended by lease_kill_test.
//
//   lease_taker FOLDER FIRST_NUMBER [FILE_LIMIT]
//
// With a limit, no file can grow beyond that many bytes: the disk is full.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "adapters/memory/memory_leases.h"
#include "adapters/sql/coordination/sql_denial_records.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/check.h"
#include "coordination/denylist.h"
#include "runtime/system_clock.h"

namespace sluice::test {
namespace {

constexpr int pairs = 8;

void say(const std::string& line) {
  const std::string whole = line + "\n";
  check(write(STDOUT_FILENO, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()), "acknowledging");
}

// Two of these race for every key. Every third key has one taker, which gives it back.
Task<> take_for_ever(coordination::Leases& leases, std::string owner, int pair, bool second, int64_t first) {
  for (int64_t number = first;; ++number) {
    const bool gives_back = number % 3 == 0;
    if (gives_back && second) continue;
    const std::string key = fmt::format("{}-{}", pair, number);
    const auto token = co_await leases.acquire(key, owner, 1h);
    say(token ? fmt::format("got {} {}", key, *token) : fmt::format("refused {}", key));
    if (!gives_back) continue;
    say("releasing " + key);
    co_await leases.release({key, token.value()});
    say("released " + key);
  }
}

Task<> deny_for_ever(coordination::Denylist& denylist, const Clock& clock, int64_t first) {
  try {
    for (int64_t number = first;; ++number) {
      const std::string token = fmt::format("token-{}", number);
      co_await denylist.deny(token, clock.wall() + 1h);
      say("denied " + token);
    }
  } catch (const EngineUnavailable&) {
    // The disk is full: a record that cannot be written is refused; the journal ends the process.
  }
}

void take_until_killed(const char* folder, int64_t first) {
  SystemClock clock;
  SeededRandom random(1);
  asio::io_context io;
  sqlite::SqliteDatabase database({.folder = folder, .journal_snapshot_bytes = 100'000}, clock);
  memory::MemoryLeases leases(clock, &database.journal());
  for (int i = 0; i < 2 * pairs; ++i) {
    asio::co_spawn(io, take_for_ever(leases, fmt::format("taker {}", i), i / 2, i % 2 == 1, first),
                   [](const std::exception_ptr& error) { std::rethrow_exception(error); });
  }
  sql::SqlDenialRecords records(database);
  coordination::Denylist denylist(records, nullptr, clock, random, io.get_executor());
  asio::co_spawn(io, deny_for_ever(denylist, clock, first),
                 [](const std::exception_ptr& error) { std::rethrow_exception(error); });
  io.run();
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fputs("usage: lease_taker FOLDER FIRST_NUMBER [FILE_LIMIT]\n", stderr);
    return 2;
  }
  if (count == 4) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = std::strtoul(arguments[3], nullptr, 10), .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  sluice::test::take_until_killed(arguments[1], std::atoll(arguments[2]));
}
