#include <array>
#include <thread>

#include <gmock/gmock.h>

#include "adapters/memory/memory_leases.h"
#include "adapters/memory/memory_slots.h"
#include "adapters/sqlite/sqlite_database.h"
#include "runtime/system_clock.h"
#include "tests/contract/task_fixture.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using coordination::Journal;
using coordination::JournalNumber;
using testing::ElementsAre;

// The smallest thing that can be journaled: texts in a row.
class Notes : public coordination::Journaled {
 public:
  explicit Notes(Journal& journal, std::string name = "notes") : journal_(journal), name_(std::move(name)) {
    journal_.attach(*this);
  }
  ~Notes() override { journal_.detach(*this); }

  JournalNumber write(const std::string& text) {
    texts.push_back(text);
    last_ = journal_.append(*this, text);
    return last_;
  }
  Task<> write_durably(std::string text) {
    const JournalNumber number = write(text);
    co_await journal_.durable(number);
  }

  std::string_view journal_name() const override { return name_; }
  void replay(std::string_view record) override { texts.emplace_back(record); }
  JournalNumber snapshot(std::vector<std::string>& records) const override {
    records.insert(records.end(), texts.begin(), texts.end());
    return last_;
  }

  std::vector<std::string> texts;

 private:
  Journal& journal_;
  std::string name_;
  JournalNumber last_ = 0;
};

class SqliteJournalTest : public TaskFixture {
 protected:
  void SetUp() override { open(); }

  void open() {
    database_.reset();
    options_.folder = folder_.path();
    database_.emplace(options_, clock_);
  }
  Journal& journal() { return database_->journal(); }
  void write_and_close(const std::string& part, const std::string& text) {
    Notes notes(journal(), part);
    run(notes.write_durably(text));
  }
  int64_t count_of(sql::Statement statement) { return run(database_->read(statement)).one().integer(0); }
  int64_t rows() { return count_of("SELECT count(*) FROM journal"); }

  TemporaryFolder folder_;
  SystemClock clock_;
  sqlite::SqliteOptions options_;
  std::optional<sqlite::SqliteDatabase> database_;
};

TEST_F(SqliteJournalTest, what_was_durable_is_replayed_in_order) {
  for (const char* text : {"one", "", "three"}) {
    write_and_close("notes", text);
    open();
  }
  EXPECT_THAT(Notes(journal()).texts, ElementsAre("one", "", "three"));
}

TEST_F(SqliteJournalTest, records_of_many_callers_share_a_row) {
  Notes notes(journal());
  std::vector<Task<>> writing;
  for (int i = 0; i < 64; ++i) writing.push_back(notes.write_durably(std::to_string(i)));
  for (const auto& outcome : run_all(std::move(writing))) EXPECT_FALSE(outcome.error);
  EXPECT_LE(rows(), 2);
}

TEST_F(SqliteJournalTest, records_go_along_with_anybodys_commit) {
  Notes notes(journal());
  const JournalNumber number = notes.write("on its way");
  run(database_->write("CREATE TABLE other (id INTEGER)"));
  EXPECT_EQ(rows(), 1);
  run(journal().durable(number));
  EXPECT_EQ(rows(), 1);
}

TEST_F(SqliteJournalTest, parts_do_not_see_each_others_records) {
  for (int round = 0; round < 2; ++round) {
    write_and_close("left", "l");
    write_and_close("right", "r");
    open();
  }
  EXPECT_THAT(Notes(journal(), "left").texts, ElementsAre("l", "l"));
  EXPECT_THAT(Notes(journal(), "right").texts, ElementsAre("r", "r"));
}

TEST_F(SqliteJournalTest, a_snapshot_takes_the_place_of_the_records_before_it) {
  options_.journal_snapshot_bytes = 2'000;
  open();
  std::vector<std::string> expected;
  {
    Notes idle(journal(), "idle");
    run(idle.write_durably("still here"));
    Notes notes(journal());
    int64_t most = 0;
    for (int i = 0; i < 500; ++i) {
      expected.push_back(fmt::format("note {}", i));
      run(notes.write_durably(expected.back()));
      most = std::max(most, rows());
    }
    EXPECT_GE(count_of("SELECT count(*) FROM journal_snapshots"), 2);
    EXPECT_LT(most, 499);
  }
  open();
  EXPECT_EQ(Notes(journal()).texts, expected);
  EXPECT_THAT(Notes(journal(), "idle").texts, ElementsAre("still here"));
}

TEST_F(SqliteJournalTest, a_part_nobody_attached_this_time_outlives_the_snapshots_of_others) {
  write_and_close("switched off", "patient");
  options_.journal_snapshot_bytes = 100;
  open();
  {
    Notes notes(journal());
    for (int i = 0; i < 50; ++i) run(notes.write_durably(std::string(20, 'x')));
  }
  open();
  EXPECT_THAT(Notes(journal(), "switched off").texts, ElementsAre("patient"));
}

sql::TxTask<> break_a_deferred_constraint(sql::Tx& tx) {
  co_await tx.execute("INSERT INTO child (parent) VALUES (1)");
}

TEST_F(SqliteJournalTest, a_group_that_one_member_spoils_still_carries_the_records) {
  run(database_->write("CREATE TABLE parent (id INTEGER PRIMARY KEY)"));
  run(database_->write("CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)"));
  {
    Notes notes(journal());
    std::vector<Task<>> together;
    for (int i = 0; i < 5; ++i) {
      together.push_back(notes.write_durably("kept"));
      together.push_back(database_->transact(break_a_deferred_constraint));
    }
    const auto outcomes = run_all(std::move(together));
    for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].error != nullptr, i % 2 == 1) << i;
  }
  open();
  EXPECT_EQ(Notes(journal()).texts, std::vector<std::string>(5, "kept"));
}

TEST_F(SqliteJournalTest, leases_outlive_the_process_until_their_end) {
  std::vector<coordination::LeaseToken> tokens;
  {
    memory::MemoryLeases leases(clock_, &journal());
    for (const char* key : {"kept", "renewed", "released", "short"}) {
      const Duration ttl = std::string_view(key) == "kept" ? Duration(1h) : Duration(200ms);
      tokens.push_back(run(leases.acquire(key, "me", ttl)).value());
    }
    // Again where this machine stood still for longer than that.
    ASSERT_TRUE(eventually([&] {
      if (run(leases.renew({{"renewed", tokens[1]}}, 1h)).renewed.size() == 1) return true;
      tokens[1] = run(leases.acquire("renewed", "me", 200ms)).value();
      return false;
    }));
    run(leases.release({"released", tokens[2]}));
  }
  open();
  memory::MemoryLeases leases(clock_, &journal());
  EXPECT_EQ(run(leases.holder("kept")).value().token, tokens[0]);
  EXPECT_EQ(run(leases.holder("renewed")).value().token, tokens[1]);
  EXPECT_FALSE(run(leases.holder("released")));
  EXPECT_FALSE(run(leases.acquire("kept", "me", 1h)));
  std::optional<coordination::LeaseToken> next;
  ASSERT_TRUE(eventually([&] { return (next = run(leases.acquire("short", "me", 1h))).has_value(); }));
  EXPECT_GT(*next, tokens[3]);
  EXPECT_EQ(run(leases.renew({{"kept", tokens[0]}}, 1h)).renewed.size(), 1U);
}

TEST_F(SqliteJournalTest, slots_outlive_the_process_until_their_end) {
  std::vector<coordination::Slot> taken;
  {
    memory::MemorySlots slots(clock_, &journal());
    const auto take = [&] { return run(slots.take("origin", 3, "me", 200ms)).value(); };
    // Again where this machine stood still for longer than that.
    for (int i = 0; i < 2; ++i) {
      taken.emplace_back();
      ASSERT_TRUE(eventually([&] { return run(slots.renew(taken.back() = take(), 1h)); }));
    }
    taken.push_back(take());
    run(slots.give_back(taken[1]));
  }
  open();
  memory::MemorySlots slots(clock_, &journal());
  EXPECT_TRUE(run(slots.renew(taken[0], 1h)));
  EXPECT_FALSE(run(slots.renew(taken[1], 1h)));
  ASSERT_TRUE(eventually([&] { return run(slots.in_use("origin")) == 1; }));
  EXPECT_GT(run(slots.take("origin", 3, "me", 1h)).value().token, taken[2].token);
}

Task<> take_some(coordination::Leases& leases, std::string name, std::vector<coordination::Lease>& held) {
  for (int i = 0; i < 200; ++i) {
    const std::string key = fmt::format("{}-{}", name, i);
    const auto token = co_await leases.acquire(key, name, 1h);
    const coordination::Lease lease{key, token.value()};
    if (i % 2 == 0) {
      held.push_back(lease);
    } else {
      co_await leases.release(lease);
    }
  }
}

TEST_F(SqliteJournalTest, threads_share_it_also_while_it_begins_anew) {
  options_.journal_snapshot_bytes = 5'000;
  open();
  constexpr size_t count = 4;
  std::array<asio::io_context, count> contexts;
  std::array<std::vector<coordination::Lease>, count> held;
  {
    memory::MemoryLeases leases(clock_, &journal());
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < count; ++i) {
      asio::co_spawn(contexts[i], take_some(leases, fmt::format("thread {}", i), held[i]),
                     [](const std::exception_ptr& error) { EXPECT_FALSE(error); });
      threads.emplace_back([&context = contexts[i]] { context.run(); });
    }
  }
  EXPECT_GE(count_of("SELECT count(*) FROM journal_snapshots"), 1);
  open();
  memory::MemoryLeases leases(clock_, &journal());
  for (const auto& mine : held) {
    EXPECT_EQ(mine.size(), 100U);
    EXPECT_EQ(run(leases.renew(mine, 1h)).renewed.size(), mine.size());
  }
}

TEST_F(SqliteJournalTest, what_is_refused_for_lack_of_room_has_changed_nothing) {
  options_.max_unanswered_writes = 4;
  open();
  memory::MemoryLeases leases(clock_, &journal());
  std::vector<Task<std::optional<coordination::LeaseToken>>> asking;
  for (int i = 0; i < 100; ++i) asking.push_back(leases.acquire(std::to_string(i), "me", 1h));
  const auto outcomes = run_all(std::move(asking));
  size_t refused = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const bool held = run(leases.holder(std::to_string(i))).has_value();
    EXPECT_EQ(held, outcomes[i].error == nullptr) << i;
    if (outcomes[i].error) ++refused;
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, 100U);
}

}  // namespace
}  // namespace sluice::test
