// A holder is paused beyond its ttl, somebody else takes over, the holder wakes up and writes.
//
// Promised: the store refuses its writes, under a lease and under a document's claim alike; the successor's stay.
// Across processes there is only PostgreSQL: the embedded file has one owner.
#include <csignal>
#include <sstream>

#include <gtest/gtest.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "adapters/sql/documents/sql_document_store.h"
#include "runtime/system_clock.h"
#include "tests/chaos/fenced_table.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/process.h"

namespace sluice::test {
namespace {

using documents::Acquired;

constexpr Duration ttl = 300ms;

class FencedPause : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    server_.emplace();
    postgres::SetupConfig config{.admin = {.url = server_->url(), .user = "postgres", .password = server_->password()},
                                 .services = {{"document_service", "secret"}}};
    postgres::PostgresSetup setup(config, thread_, clock_);
    run(setup.create_services());
    std::vector<sql::MigrationSet> sets = postgres::migrations();
    std::erase_if(sets, [](const sql::MigrationSet& set) { return set.schema != "document_service"; });
    run(setup.migrate(sets));
    const postgres::PostgresConfig login{.url = server_->url(), .user = "document_service", .password = "secret"};
    database_.emplace(login, thread_, clock_);
    run(database_->write(make_fenced_table));
  }

  Process start_holder() const {
    return Process({.arguments = {binary("fence_holder"), server_->url(), "document_service", "lease", "origin",
                                  "a.xml", std::to_string(ttl / 1ms)},
                    .environment = {{"PASSWORD", "secret"}}});
  }
  documents::DocumentKey document() const { return {"origin", documents::DocumentPath::parse("a.xml").value()}; }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::optional<PostgresServer> server_;
  std::optional<postgres::PostgresDatabase> database_;
};

TEST_F(FencedPause, a_holder_that_wakes_up_after_a_takeover_writes_nothing) {
  sql::SqlFencedLeases leases(*database_);
  sql::SqlDocumentStore store(*database_);
  Process holder = start_holder();
  int64_t lost_fence = 0;
  int64_t lost_token = 0;
  std::istringstream holding(holder.wait_for_line("holding").substr(std::string_view("holding").size()));
  ASSERT_TRUE(holding >> lost_fence >> lost_token);
  holder.signal(SIGSTOP);

  std::optional<coordination::Fence> fence;
  ASSERT_TRUE(eventually([&] {
    fence = run(leases.acquire("lease", "successor", 1min));
    return fence.has_value();
  }));
  EXPECT_GT(*fence, lost_fence);
  EXPECT_TRUE(run(write_fenced(*database_, "lease", *fence, "successor")));
  std::optional<int64_t> token;
  ASSERT_TRUE(eventually([&] {
    documents::DownloadClaim request{document(), "successor", 1min, 1h};
    const documents::ClaimOutcome outcome = run(store.claim(request));
    if (const auto* acquired = std::get_if<Acquired>(&outcome)) token = acquired->token;
    return token.has_value();
  }));
  EXPECT_GT(*token, lost_token);

  // It wakes up while the successor is still downloading.
  holder.signal(SIGUSR1);
  holder.signal(SIGCONT);
  EXPECT_EQ(holder.wait_for_line("fenced write"), "fenced write refused");
  EXPECT_EQ(holder.wait_for_line("document"), "document refused");
  EXPECT_EQ(holder.wait(), 0);

  EXPECT_FALSE(run(store.find(document())));
  documents::Document good;
  good.body = "from the successor";
  EXPECT_TRUE(run(store.complete(document(), *token, good)));
  EXPECT_EQ(run(store.find(document()))->body, "from the successor");
  EXPECT_EQ(run(database_->read(find_writer, sql::Params("lease"))).one().text(0), "successor");
  EXPECT_EQ(run(leases.holder("lease"))->owner, "successor");
}

TEST_F(FencedPause, a_holder_that_was_not_paused_writes) {
  Process holder = start_holder();
  holder.wait_for_line("holding");
  holder.signal(SIGUSR1);
  EXPECT_EQ(holder.wait_for_line("fenced write"), "fenced write stored");
  EXPECT_EQ(holder.wait_for_line("document"), "document stored");
  EXPECT_EQ(holder.wait(), 0);
}

}  // namespace
}  // namespace sluice::test
