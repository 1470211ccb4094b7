#include <csignal>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "adapters/memory/memory_leases.h"
#include "adapters/sql/coordination/sql_denial_records.h"
#include "adapters/sqlite/sqlite_database.h"
#include "base/random.h"
#include "coordination/denylist.h"
#include "runtime/system_clock.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/process.h"
#include "tests/support/run_length.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

class LeaseKill : public TaskFixture {
 protected:
  // Facts about a key from the answers that arrived.
  struct Known {
    std::optional<int64_t> token;
    bool releasing = false;
    bool released = false;
  };

  std::vector<std::string> taker_arguments() {
    const std::string first = std::to_string(1'000'000 * ++rounds_);
    return {binary("lease_taker"), folder_.path(), first};
  }

  void take_and_kill(size_t until) {
    Process taker({.arguments = taker_arguments()});
    for (size_t i = 0; i < until; ++i) {
      const auto line = taker.next_line();
      ASSERT_TRUE(line) << taker.output();
      learn(*line);
    }
    taker.signal(SIGKILL);
    while (const auto line = taker.next_line()) learn(*line);
    ASSERT_EQ(taker.wait(), 128 + SIGKILL) << taker.output();
  }

  bool learn(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    std::string key;
    words >> what >> key;
    if (what == "got") {
      words >> known_[key].token.emplace();
    } else if (what == "refused") {
      known_[key];
    } else if (what == "releasing") {
      known_[key].releasing = true;
    } else if (what == "released") {
      known_[key].released = true;
    } else if (what == "denied") {
      denied_.insert(key);
    } else {
      return false;
    }
    return true;
  }

  void expect_nothing_lost() {
    SystemClock clock;
    sqlite::SqliteDatabase database({.folder = folder_.path()}, clock);
    memory::MemoryLeases leases(clock, &database.journal());
    for (const auto& [key, known] : known_) {
      const auto holder = run(leases.holder(key));
      if (known.released) {
        EXPECT_FALSE(holder) << key << " was given back";
      } else if (!known.releasing) {
        ASSERT_TRUE(holder) << key << (known.token ? " was acquired" : " was refused as taken");
        if (known.token) {
          EXPECT_EQ(holder->token, *known.token) << key;
        }
      }
    }
    expect_none_revived(database, clock);
  }

  void expect_none_revived(sql::Database& database, Clock& clock) {
    SeededRandom random(1);
    sql::SqlDenialRecords records(database);
    coordination::Denylist denylist(records, nullptr, clock, random, io_.get_executor());
    run(denylist.load());
    for (const std::string& token : denied_) EXPECT_TRUE(run(denylist.denied(token))) << token;
  }

  TemporaryFolder folder_;
  std::map<std::string, Known> known_;
  std::set<std::string> denied_;
  int rounds_ = 0;
};

TEST_F(LeaseKill, every_answer_still_holds_after_a_kill) {
  const uint64_t chosen = seed();
  SCOPED_TRACE(fmt::format("SLUICE_SEED={}", chosen));
  SeededRandom random(chosen);
  for (int kill = 0; kill < (in_full() ? 100 : 12); ++kill) {
    take_and_kill(1 + random.below(in_full() ? 10'000 : 1'500));
    expect_nothing_lost();
    if (HasFailure()) return;
  }
  EXPECT_GT(denied_.size(), 10U);
}

TEST_F(LeaseKill, a_full_disk_ends_the_process_and_nothing_answered_is_lost) {
  std::vector<std::string> arguments = taker_arguments();
  arguments.emplace_back("1500000");
  Process taker({.arguments = arguments});
  size_t answers = 0;
  while (const auto line = taker.next_line()) answers += learn(*line) ? 1 : 0;
  EXPECT_EQ(taker.wait(), 128 + SIGABRT);
  EXPECT_NE(taker.output().find("memory is ahead of the disk"), std::string::npos) << taker.output();
  EXPECT_GT(answers, 100U);
  expect_nothing_lost();
}

}  // namespace
}  // namespace sluice::test
