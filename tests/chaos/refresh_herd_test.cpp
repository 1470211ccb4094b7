// Ten processes want the same item at the same moment, a hundred times each.
//
// Promised: one of the thousand is told to publish, and everybody else that it is on its way; and this again after
// Redis has lost everything, with a higher version.
#include <csignal>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "adapters/postgres/migrations.h"
#include "adapters/postgres/postgres_setup.h"
#include "runtime/system_clock.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/needs.h"
#include "tests/support/postgres_server.h"
#include "tests/support/process.h"
#include "tests/support/redis_server.h"

namespace sluice::test {
namespace {

constexpr int processes = 10;
constexpr int requests_each = 100;

class RefreshHerd : public TaskFixture {
 protected:
  void SetUp() override {
    SLUICE_NEEDS(PostgresServer::why_missing(15));
    SLUICE_NEEDS(RedisServer::why_missing());
    postgres_.emplace();
    redis_.emplace();
    SystemClock clock;
    postgres::EngineThread thread;
    const postgres::SetupConfig config{
        .admin = {.url = postgres_->url(), .user = "postgres", .password = postgres_->password()},
        .services = {{"snapshot_service", "secret"}}};
    postgres::PostgresSetup setup(config, thread, clock);
    run(setup.create_services());
    std::vector<sql::MigrationSet> sets = postgres::migrations();
    std::erase_if(sets, [](const sql::MigrationSet& set) { return set.schema != "snapshot_service"; });
    run(setup.migrate(sets));
  }

  struct Tally {
    int published = 0;
    int already = 0;
    std::set<int64_t> versions;
  };

  Tally herd() {
    std::vector<std::unique_ptr<Process>> askers;
    for (int i = 0; i < processes; ++i) {
      askers.push_back(std::make_unique<Process>(
          ProcessOptions{.arguments = {binary("refresh_asker"), redis_->url(), "item", std::to_string(requests_each),
                                       postgres_->url(), "snapshot_service"},
                         .environment = {{"PASSWORD", "secret"}}}));
    }
    for (const auto& asker : askers) asker->wait_for_line("ready");
    for (const auto& asker : askers) asker->signal(SIGUSR1);
    Tally tally;
    for (const auto& asker : askers) count(*asker, tally);
    return tally;
  }
  static void count(Process& asker, Tally& tally) {
    while (const std::optional<std::string> line = asker.next_line()) {
      std::istringstream words(*line);
      std::string outcome;
      int64_t version = 0;
      int times = 0;
      words >> outcome >> version >> times;
      if (outcome == "done") break;
      (outcome == "already" ? tally.already : tally.published) += times;
      tally.versions.insert(version);
    }
    EXPECT_EQ(asker.wait(), 0) << asker.output();
  }

  std::optional<PostgresServer> postgres_;
  std::optional<RedisServer> redis_;
};

TEST_F(RefreshHerd, of_a_thousand_requests_in_ten_processes_one_publishes) {
  int64_t highest = 0;
  for (const char* const what_happens_next : {"a wipe", "a restart without data", "the end"}) {
    const Tally tally = herd();
    EXPECT_EQ(tally.published, 1) << "before " << what_happens_next;
    EXPECT_EQ(tally.already, processes * requests_each - 1);
    ASSERT_EQ(tally.versions.size(), 1U);
    EXPECT_GT(*tally.versions.begin(), highest);
    highest = *tally.versions.begin();
    if (what_happens_next == std::string_view("a wipe")) redis_->wipe();
    if (what_happens_next == std::string_view("a restart without data")) {
      redis_->kill();
      redis_->start_empty();
    }
  }
}

}  // namespace
}  // namespace sluice::test
