// Takes a lease and a document's claim, says so, waits for SIGUSR1 and then writes under both, as one that was asleep
// and does not know better. Paused by fenced_pause_test.
//
//   fence_holder URL USER LEASE_KEY ORIGIN PATH TTL_MS      (the password is in $PASSWORD)
//
// Prints "holding FENCE TOKEN"; after the signal "fenced write stored|refused" and "document stored|refused".
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "adapters/sql/documents/sql_document_store.h"
#include "runtime/system_clock.h"
#include "tests/chaos/fenced_table.h"

namespace sluice::test {
namespace {

struct Plan {
  std::string lease;
  documents::DocumentKey document;
  Duration ttl;
};

void wait_for_signal(const sigset_t& awaited) {
  int received = 0;
  sigwait(&awaited, &received);
}

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

Task<> hold_and_write(sql::Database& database, Plan plan, const sigset_t& awaited) {
  sql::SqlFencedLeases leases(database);
  sql::SqlDocumentStore store(database);
  const auto fence = co_await leases.acquire(plan.lease, "holder", plan.ttl);
  documents::DownloadClaim request{plan.document, "holder", plan.ttl, 1h};
  const documents::ClaimOutcome outcome = co_await store.claim(std::move(request));
  const int64_t token = std::get<documents::Acquired>(outcome).token;
  say(fmt::format("holding {} {}", fence.value(), token));

  wait_for_signal(awaited);
  const bool written = co_await write_fenced(database, plan.lease, fence.value(), "holder");
  say(written ? "fenced write stored" : "fenced write refused");
  documents::Document document;
  document.body = "from the holder";
  const documents::DocumentPtr stored = co_await store.complete(plan.document, token, std::move(document));
  say(stored ? "document stored" : "document refused");
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** arguments) {
  using namespace sluice;
  if (count != 7) {
    std::fputs("usage: PASSWORD=... fence_holder URL USER LEASE_KEY ORIGIN PATH TTL_MS\n", stderr);
    return 2;
  }
  sigset_t awaited;  // blocked before any thread starts, so that sigwait alone sees it
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);

  SystemClock clock;
  asio::io_context io;
  postgres::EngineThread thread;
  const postgres::PostgresConfig config{.url = arguments[1], .user = arguments[2], .password = std::getenv("PASSWORD")};
  postgres::PostgresDatabase database(config, thread, clock);
  const test::Plan plan{arguments[3],
                        {arguments[4], documents::DocumentPath::parse(arguments[5]).value()},
                        std::chrono::milliseconds(std::atoi(arguments[6]))};
  auto done = asio::co_spawn(io, test::hold_and_write(database, plan, awaited), asio::use_future);
  io.run();
  done.get();
}
