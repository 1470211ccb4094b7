// What the inbox promises, tried on a real engine.
#pragma once

#include <random>

#include "adapters/sql/inbox.h"
#include "runtime/system_clock.h"
#include "runtime/virtual_clock.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

namespace inbox_contract {

using messaging::MessageId;
using sql::Params;
using sql::Rows;
using sql::Statement;
using sql::Tx;
using sql::TxTask;

inline constexpr Statement drop_effects = "DROP TABLE IF EXISTS inbox_effects";
inline constexpr Statement make_effects = "CREATE TABLE inbox_effects (name text PRIMARY KEY, times bigint NOT NULL)";
inline constexpr Statement take_effect =
    "INSERT INTO inbox_effects AS kept (name, times) VALUES ($1, 1) "
    "ON CONFLICT (name) DO UPDATE SET times = kept.times + 1";
inline constexpr Statement read_effect = "SELECT times FROM inbox_effects WHERE name = $1";
inline constexpr Statement grow_old{Statement::PerDialect{
    .postgres = "UPDATE inbox SET seen_at = seen_at - $2 * interval '1 microsecond' WHERE consumer = $1",
    .sqlite = "UPDATE inbox SET seen_at = seen_at - $2 WHERE consumer = $1"}};

inline constexpr Statement count_seen = "SELECT count(*) FROM inbox WHERE consumer = $1";

inline TxTask<bool> handle(Tx& tx, std::string consumer, MessageId message, std::string effect, bool fails) {
  const bool first = co_await sql::first_time(tx, std::move(consumer), message);
  if (!first) co_return false;
  Params params(std::move(effect));
  co_await tx.execute(take_effect, std::move(params));
  if (fails) throw std::runtime_error("after the effect");
  co_return true;
}

}  // namespace inbox_contract

class InboxContract : public DatabaseFixture {
 protected:
  using MessageId = messaging::MessageId;

  void SetUp() override {
    DatabaseFixture::SetUp();
    using namespace inbox_contract;
    for (const sql::Statement& statement : {drop_effects, make_effects}) run(database().write(statement));
    consumer_ = MessageId::make({}, random_).text();  // the table may outlast a test
  }

  MessageId message() { return MessageId::make({}, random_); }
  Task<bool> handling(MessageId message, bool fails = false) {
    return database().transact(inbox_contract::handle, consumer_, message, message.text(), fails);
  }
  bool handle(MessageId message) { return run(handling(message)); }
  int64_t effects(MessageId message) {
    const sql::Rows rows = run(database().read(inbox_contract::read_effect, sql::Params(message.text())));
    return rows.empty() ? 0 : rows.one().integer(0);
  }
  void grow_old(Duration by) { run(database().write(inbox_contract::grow_old, sql::Params(consumer_, by.count()))); }

  SeededRandom random_{std::random_device{}()};
  std::string consumer_;
};

TEST_P(InboxContract, a_message_takes_effect_once) {
  const MessageId first = message();
  EXPECT_TRUE(handle(first));
  EXPECT_FALSE(handle(first));
  EXPECT_EQ(effects(first), 1);
  EXPECT_TRUE(handle(message()));
}

TEST_P(InboxContract, consumers_do_not_see_for_each_other) {
  const MessageId one = message();
  EXPECT_TRUE(handle(one));
  consumer_ += "-another";
  EXPECT_TRUE(handle(one));
  EXPECT_EQ(effects(one), 2);
}

TEST_P(InboxContract, an_effect_that_is_undone_was_not_seen) {
  const MessageId one = message();
  EXPECT_THROW(run(handling(one, true)), std::runtime_error);
  EXPECT_EQ(effects(one), 0);
  EXPECT_TRUE(handle(one));
  EXPECT_EQ(effects(one), 1);
}

TEST_P(InboxContract, of_duplicates_at_the_same_time_one_takes_effect) {
  for (int round = 0; round < 20; ++round) {
    const MessageId one = message();
    std::vector<Task<bool>> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(handling(one));
    const std::vector<bool> first = values_of(std::move(tasks));
    EXPECT_EQ(std::ranges::count(first, true), 1);
    EXPECT_EQ(effects(one), 1);
  }
}

TEST_P(InboxContract, a_duplicate_takes_effect_where_the_one_before_it_fails) {
  for (int round = 0; round < 20; ++round) {
    const MessageId one = message();
    std::vector<Task<bool>> tasks;
    for (int i = 0; i < 8; ++i) tasks.push_back(handling(one, i % 2 == 0));
    int first = 0;
    for (const auto& outcome : run_all(std::move(tasks))) first += !outcome.error && *outcome.value;
    EXPECT_EQ(first, 1);
    EXPECT_EQ(effects(one), 1);
  }
}

TEST_P(InboxContract, old_messages_are_forgotten_in_batches_and_young_ones_are_not) {
  std::vector<MessageId> old;
  for (int i = 0; i < 25; ++i) handle(old.emplace_back(message()));
  grow_old(11min);
  const MessageId young = message();
  handle(young);
  VirtualClock clock;
  sql::InboxRetention retention(database(), clock, {.retention = 10min, .batch = 10});
  std::vector<int64_t> removed;
  do removed.push_back(run(retention.remove_old()));
  while (removed.back() == 10);
  EXPECT_EQ(removed, (std::vector<int64_t>{10, 10, 5}));
  EXPECT_FALSE(handle(young));
  EXPECT_TRUE(handle(old.front()));
}

TEST_P(InboxContract, a_round_forgets_all_that_is_old_by_several_processes_at_once) {
  for (int i = 0; i < 25; ++i) handle(message());
  grow_old(11min);
  const MessageId young = message();
  handle(young);
  SystemClock clock;
  sql::InboxRetention retention(database(), clock, {.retention = 10min, .every = 1ms, .batch = 4});
  std::vector<Task<>> rounds;
  for (int i = 0; i < 3; ++i) rounds.push_back(retention.round());
  for (const auto& outcome : run_all(std::move(rounds))) EXPECT_FALSE(outcome.error);
  run(retention.round());  // what was locked by a neighbour's batch is left to it
  const sql::Rows left = run(database().read(inbox_contract::count_seen, sql::Params(consumer_)));
  EXPECT_EQ(left.one().integer(0), 1);
  EXPECT_FALSE(handle(young));
}

}  // namespace sluice::test
