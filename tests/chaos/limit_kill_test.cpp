// Embedded: after kill -9 acknowledged permits of a day are spent, and no window gives a second burst.
#include <csignal>
#include <sstream>

#include <gtest/gtest.h>

#include "adapters/sql/coordination/sql_day_budgets.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/random.h"
#include "runtime/system_clock.h"
#include "tests/chaos/limit_spender_plan.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/process.h"
#include "tests/support/run_length.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/window_check.h"

namespace sluice::test {
namespace {

class LimitKill : public TaskFixture {
 protected:
  // Lets the spender print `lines` lines, kills it, and reads its output.
  void spend_and_kill(size_t lines) {
    Process spender({.arguments = {binary("limit_spender"), folder_.path()}});
    for (size_t i = 0; i < lines; ++i) {
      const auto line = spender.next_line();
      ASSERT_TRUE(line) << spender.output();
      acknowledge(*line);
    }
    spender.signal(SIGKILL);
    while (const auto line = spender.next_line()) acknowledge(*line);
    ASSERT_EQ(spender.wait(), 128 + SIGKILL) << spender.output();
  }

  void acknowledge(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    int64_t count = 0;
    int64_t stamp = 0;
    ASSERT_TRUE(words >> kind >> count >> stamp) << line;
    if (kind == "chunk") {
      taken_ += count;
    } else {
      given_.push_back({stamp, count});
    }
  }

  int64_t left() {
    const SystemClock clock;
    sqlite::SqliteDatabase database({.folder = folder_.path()}, clock);
    sql::SqlDayBudgets days(database, spender_plan());
    return run(days.left()).at(0);
  }

  TemporaryFolder folder_;
  int64_t taken_ = 0;
  std::vector<Happened> given_;
};

TEST_F(LimitKill, what_was_acknowledged_is_spent) {
  const int kills = in_full() ? 50 : 5;
  SeededRandom random(1);
  const int64_t most = spender_plan().day[0].most;
  for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
    spend_and_kill(200 + random.below(300));
    EXPECT_GE(most - left(), taken_) << "a chunk was forgotten";
  }
  EXPECT_EQ(broken_window(given_, 20, 120ms), "");
  EXPECT_GT(total(given_), 20);
}

}  // namespace
}  // namespace sluice::test
