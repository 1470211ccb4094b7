#include <csignal>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite_database.h"
#include "base/random.h"
#include "runtime/system_clock.h"
#include "tests/chaos/sqlite_writer_schema.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

struct Plan {
  int kills = 20;
  size_t acknowledged = 10'000;
  std::string row_bytes = "100";
};

// The long form has rows so big that kills also meet checkpoints.
Plan plan() {
  if (std::getenv("SLUICE_LONG") == nullptr) return {};
  return {.kills = 200, .acknowledged = 300'000, .row_bytes = "20000"};
}

uint64_t seed() {
  const char* given = std::getenv("SLUICE_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  return SystemClock().wall().time_since_epoch().count();
}

class SqliteKill : public TaskFixture {
 protected:
  // Lets the writer acknowledge `until` more writes, kills it, and takes what it had acknowledged by then.
  void write_and_kill(const Plan& plan, size_t until) {
    const int64_t first = acknowledged_.empty() ? 0 : *acknowledged_.rbegin() + 1'000;
    Process writer({.arguments = {binary("sqlite_writer"), folder_.path(), std::to_string(first), plan.row_bytes}});
    for (size_t i = 0; i < until; ++i) {
      const auto line = writer.next_line();
      ASSERT_TRUE(line) << writer.output();
      acknowledge(*line);
    }
    writer.signal(SIGKILL);
    while (const auto line = writer.next_line()) acknowledge(*line);
    ASSERT_EQ(writer.wait(), 128 + SIGKILL) << writer.output();
  }

  void acknowledge(const std::string& line) {
    size_t digits = 0;
    const int64_t number = std::stoll(line, &digits);
    ASSERT_EQ(digits, line.size()) << line;
    acknowledged_.insert(number);
  }

  void expect_nothing_lost() {
    const SystemClock clock;
    sqlite::SqliteDatabase database({.folder = folder_.path()}, clock, writer_schema());
    EXPECT_EQ(run(database.read("PRAGMA integrity_check")).one().text(0), "ok");
    std::set<int64_t> written;
    for (const sql::Row& row : run(database.read("SELECT number FROM written"))) written.insert(row.integer(0));
    EXPECT_TRUE(std::ranges::includes(written, acknowledged_));
    const sql::Rows halves =
        run(database.read("SELECT number FROM written WHERE number % 2 = 1 EXCEPT SELECT number FROM paired"));
    EXPECT_TRUE(halves.empty());
  }

  TemporaryFolder folder_;
  std::set<int64_t> acknowledged_;
};

TEST_F(SqliteKill, nothing_acknowledged_is_missing) {
  const Plan plan = sluice::test::plan();
  const uint64_t chosen = seed();
  SCOPED_TRACE(fmt::format("SLUICE_SEED={}", chosen));
  SeededRandom random(chosen);
  const size_t most = 2 * plan.acknowledged / static_cast<size_t>(plan.kills);
  for (int kill = 0; kill < plan.kills; ++kill) {
    // The last round makes up for whatever the others fell short of.
    const size_t missing = plan.acknowledged - std::min(plan.acknowledged, acknowledged_.size());
    const size_t until = kill + 1 == plan.kills ? missing : 1 + random.below(most);
    write_and_kill(plan, until);
    expect_nothing_lost();
    if (HasFailure()) return;
  }
  EXPECT_GE(acknowledged_.size(), plan.acknowledged);
}

}  // namespace
}  // namespace sluice::test
