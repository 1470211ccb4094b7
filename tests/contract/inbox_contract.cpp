// Contract of the inbox, tested on a real engine.
#include "tests/contract/inbox_suite.h"

namespace sluice::test {

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
  run(retention.round());  // rows locked by another batch are left to it
  const sql::Rows left = run(database().read(inbox_contract::count_seen, sql::Params(consumer_)));
  EXPECT_EQ(left.one().integer(0), 1);
  EXPECT_FALSE(handle(young));
}

}  // namespace sluice::test
