// Contract of every coordination::CacheStore, tested on a real engine.
#include "tests/contract/cache_store_suite.h"

namespace sluice::test {

TEST_P(CacheStoreContract, what_was_put_is_found_with_its_time) {
  put(entry("body"));
  const CacheAnswer found = look();
  EXPECT_EQ(text(found), "body");
  EXPECT_GT(found.copy->fresh_for, 50s);
  EXPECT_LE(found.copy->fresh_for, 1min);
  EXPECT_EQ(found.copy->load_cost, 1ms);
}

TEST_P(CacheStoreContract, bodies_are_any_bytes) {
  const std::string bytes("\0\r\n\xff$-1\r\n", 9);
  put(entry(bytes));
  EXPECT_EQ(text(look()), bytes);
  put(entry(""));
  EXPECT_EQ(text(look()), "");
}

TEST_P(CacheStoreContract, that_there_is_none_is_remembered_too) {
  put({nullptr, 1min, 1min, 1ms});
  EXPECT_EQ(text(look()), "none");
}

TEST_P(CacheStoreContract, of_many_callers_one_gets_the_ticket) {
  std::vector<Task<CacheAnswer>> asking;
  for (LoadTicket ticket = 1; ticket <= 50; ++ticket) asking.push_back(port().look_up(key_, {ticket, 1min, 0}));
  int granted = 0;
  for (const auto& outcome : run_all(std::move(asking))) granted += outcome.value->ticket_granted ? 1 : 0;
  EXPECT_EQ(granted, 1);
}

TEST_P(CacheStoreContract, who_only_looks_gets_no_ticket) {
  EXPECT_FALSE(look().ticket_granted);
  EXPECT_TRUE(ask(7).ticket_granted);
}

TEST_P(CacheStoreContract, the_ticket_fills_once) {
  ASSERT_TRUE(ask(7).ticket_granted);
  EXPECT_TRUE(fill(7, entry("loaded")));
  EXPECT_FALSE(fill(7, entry("again")));
  EXPECT_EQ(text(look()), "loaded");
}

TEST_P(CacheStoreContract, another_ticket_fills_nothing) {
  ASSERT_TRUE(ask(7).ticket_granted);
  EXPECT_FALSE(fill(8, entry("strange")));
  EXPECT_EQ(text(look()), "nothing");
}

TEST_P(CacheStoreContract, a_removed_key_is_never_filled_with_what_was_read_before) {
  ASSERT_TRUE(ask(7).ticket_granted);
  remove();
  EXPECT_FALSE(fill(7, entry("read before")));
  EXPECT_EQ(text(look()), "nothing");
  EXPECT_TRUE(ask(8).ticket_granted);
  EXPECT_FALSE(fill(7, entry("read before")));
  EXPECT_TRUE(fill(8, entry("read after")));
  EXPECT_EQ(text(look()), "read after");
}

TEST_P(CacheStoreContract, what_was_put_is_not_overwritten_by_a_load_begun_before) {
  ASSERT_TRUE(ask(7).ticket_granted);
  put(entry("put"));
  EXPECT_FALSE(fill(7, entry("loaded")));
  EXPECT_EQ(text(look()), "put");
}

TEST_P(CacheStoreContract, a_ticket_given_up_is_given_again_at_once) {
  ASSERT_TRUE(ask(7).ticket_granted);
  EXPECT_FALSE(ask(8).ticket_granted);
  give_up(9);
  EXPECT_FALSE(ask(8).ticket_granted);
  give_up(7);
  EXPECT_TRUE(ask(8).ticket_granted);
  EXPECT_FALSE(fill(7, entry("late")));
}

TEST_P(CacheStoreContract, a_ticket_ends_by_itself_and_fills_nothing_then) {
  ASSERT_TRUE(ask(7, 30ms).ticket_granted);
  EXPECT_TRUE(eventually([&] { return ask(8).ticket_granted; }));
  EXPECT_FALSE(fill(7, entry("late")));
}

TEST_P(CacheStoreContract, a_fresh_copy_needs_no_ticket) {
  put(entry("body"));
  const CacheAnswer answer = ask(7);
  EXPECT_FALSE(answer.ticket_granted);
  EXPECT_EQ(text(answer), "body");
}

TEST_P(CacheStoreContract, a_copy_near_its_end_is_renewed_by_one) {
  put(entry("body", 1min));
  const double all_of_it = 100'000;  // times 1 ms of cost
  const CacheAnswer first = ask(7, 1min, all_of_it);
  EXPECT_TRUE(first.ticket_granted);
  EXPECT_EQ(text(first), "body");
  const CacheAnswer second = ask(8, 1min, all_of_it);
  EXPECT_FALSE(second.ticket_granted);
  EXPECT_EQ(text(second), "body");
  EXPECT_TRUE(fill(7, entry("renewed")));
  EXPECT_EQ(text(look()), "renewed");
}

TEST_P(CacheStoreContract, a_stale_copy_is_served_while_one_renews_it) {
  put(entry("old", 20ms));
  ASSERT_TRUE(eventually([&] { return !look().copy->fresh(); }));
  const CacheAnswer first = ask(7);
  EXPECT_TRUE(first.ticket_granted);
  EXPECT_EQ(text(first), "old");
  EXPECT_FALSE(first.copy->fresh());
  EXPECT_FALSE(ask(8).ticket_granted);
  EXPECT_EQ(text(ask(8)), "old");
  EXPECT_TRUE(fill(7, entry("new")));
  EXPECT_TRUE(look().copy->fresh());
}

TEST_P(CacheStoreContract, after_its_stale_time_it_is_gone) {
  put(entry("old", 10ms, 10ms));
  EXPECT_TRUE(eventually([&] { return !look().copy; }));
  EXPECT_TRUE(ask(7).ticket_granted);
}

TEST_P(CacheStoreContract, what_is_at_hand_is_never_older_than_a_removal) {
  put(entry("body"));
  look();
  remove();
  EXPECT_FALSE(port().peek(key_));
}

}  // namespace sluice::test
