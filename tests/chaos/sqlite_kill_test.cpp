#include <csignal>
#include <set>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite_database.h"
#include "base/random.h"
#include "runtime/system_clock.h"
#include "tests/chaos/sqlite_writer_schema.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/process.h"
#include "tests/support/run_length.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

struct Plan {
  int kills = 20;
  std::string row_bytes = "100";
};

// The long form has more kills, and rows so big that they also meet checkpoints.
Plan plan() {
  if (!in_full()) return {};
  return {.kills = 100, .row_bytes = "4000"};
}

// Every kill strikes at a random moment of a run of so many acknowledged writes.
constexpr size_t writes_in_a_run = 10'000;

class SqliteKill : public TaskFixture {
 protected:
  // Lets the writer acknowledge `until` writes, kills it, and reads its acknowledgements.
  void write_and_kill(const Plan& plan, size_t until) {
    // Beyond the numbers that the last writer may have committed without acknowledging.
    first_of_run_ = acknowledged_.empty() ? 0 : *acknowledged_.rbegin() + 1'000;
    Process writer(
        {.arguments = {binary("sqlite_writer"), folder_.path(), std::to_string(first_of_run_), plan.row_bytes}});
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

  // Of the writes from number `first` on.
  void expect_nothing_lost(int64_t first) {
    const SystemClock clock;
    // The long form makes a large file.
    sqlite::SqliteDatabase database({.folder = folder_.path(), .read_time_limit = 10min}, clock, writer_schema());
    EXPECT_EQ(run(database.read("PRAGMA integrity_check")).one().text(0), "ok");
    std::set<int64_t> written;
    sql::Params from(first);
    const sql::Rows rows = run(database.read("SELECT number FROM written WHERE number >= $1", from));
    for (const sql::Row& row : rows) written.insert(row.integer(0));
    const std::set<int64_t> acknowledged(acknowledged_.lower_bound(first), acknowledged_.end());
    EXPECT_TRUE(std::ranges::includes(written, acknowledged));
    const sql::Rows halves = run(database.read(
        "SELECT number FROM written WHERE number >= $1 AND number % 2 = 1 EXCEPT SELECT number FROM paired", from));
    EXPECT_TRUE(halves.empty());
  }

  TemporaryFolder folder_;
  int64_t first_of_run_ = 0;
  std::set<int64_t> acknowledged_;
};

TEST_F(SqliteKill, nothing_acknowledged_is_missing) {
  const Plan plan = sluice::test::plan();
  const uint64_t chosen = seed();
  SCOPED_TRACE(fmt::format("SLUICE_SEED={}", chosen));
  SeededRandom random(chosen);
  for (int kill = 0; kill < plan.kills; ++kill) {
    write_and_kill(plan, 1 + random.below(writes_in_a_run));
    expect_nothing_lost(first_of_run_);
    if (HasFailure()) return;
  }
  expect_nothing_lost(0);
}

}  // namespace
}  // namespace sluice::test
