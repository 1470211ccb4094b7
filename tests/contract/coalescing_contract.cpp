// Contract of every coordination::Coalescing, tested on a real engine.
#include "tests/contract/coalescing_suite.h"

namespace sluice::test {

TEST_P(CoalescingContract, the_first_who_asks_publishes_and_the_next_are_covered) {
  const RefreshAnswer first = ask(low);
  EXPECT_EQ(first.outcome, RefreshOutcome::published);
  EXPECT_EQ(first.message.lane, low);
  EXPECT_FALSE(first.before);
  const RefreshAnswer second = ask(low);
  EXPECT_EQ(second.outcome, RefreshOutcome::already);
  EXPECT_EQ(second.message.version, first.message.version);
}

TEST_P(CoalescingContract, of_many_who_ask_at_once_one_publishes) {
  std::vector<Task<RefreshAnswer>> asking;
  for (int i = 0; i < 200; ++i) asking.push_back((i % 2 == 0 ? one() : other()).request({item_, low}));
  std::set<Version> versions;
  int published = 0;
  for (const RefreshAnswer& answer : values_of(std::move(asking))) {
    versions.insert(answer.message.version);
    if (answer.to_publish()) ++published;
  }
  EXPECT_EQ(published, 1);
  EXPECT_EQ(versions.size(), 1U);
}

TEST_P(CoalescingContract, a_more_urgent_lane_overtakes_and_a_less_urgent_one_does_not) {
  const RefreshAnswer slow = ask(2);
  const RefreshAnswer faster = ask(low);
  EXPECT_EQ(faster.outcome, RefreshOutcome::upgraded);
  EXPECT_EQ(faster.before, slow.message);
  const RefreshAnswer fastest = ask(high);
  EXPECT_EQ(fastest.outcome, RefreshOutcome::upgraded);
  EXPECT_EQ(fastest.message.lane, high);
  EXPECT_GT(faster.message.version, slow.message.version);
  EXPECT_GT(fastest.message.version, faster.message.version);
  for (const size_t lane : {size_t{2}, low, high}) EXPECT_EQ(outcome_of(lane), RefreshOutcome::already) << lane;
}

TEST_P(CoalescingContract, a_fetch_satisfies_every_version_issued_before_it_began) {
  const Version slow = ask(low).message.version;
  const Version fast = ask(high).message.version;
  const FetchAnswer fetch = begin(slow);
  ASSERT_EQ(fetch.outcome, FetchOutcome::run);
  EXPECT_EQ(fetch.covers, fast);
  finish(fetch.covers);
  EXPECT_EQ(look(slow).outcome, FetchOutcome::obsolete);
  EXPECT_EQ(begin(fast).outcome, FetchOutcome::obsolete);
}

TEST_P(CoalescingContract, a_newer_version_alone_makes_nothing_obsolete) {
  const Version slow = ask(low).message.version;
  ask(high);
  EXPECT_EQ(look(slow).outcome, FetchOutcome::run);
}

TEST_P(CoalescingContract, while_a_fetch_runs_nobody_publishes_and_nobody_else_fetches) {
  const Version version = ask(low).message.version;
  const FetchAnswer fetch = begin(version);
  const RefreshAnswer meanwhile = ask(high);
  EXPECT_EQ(meanwhile.outcome, RefreshOutcome::already);
  EXPECT_EQ(meanwhile.message.version, fetch.covers);
  const FetchAnswer busy = begin(version, "somebody else");
  EXPECT_EQ(busy.outcome, FetchOutcome::busy);
  EXPECT_GT(busy.busy_for, 50s);
  EXPECT_LE(busy.busy_for, 1min);
  EXPECT_EQ(look(version).outcome, FetchOutcome::busy);
  EXPECT_EQ(begin(version).outcome, FetchOutcome::run) << "its owner may begin anew";
}

TEST_P(CoalescingContract, of_many_who_begin_at_once_one_runs) {
  const Version version = ask(low).message.version;
  std::vector<Task<FetchAnswer>> beginning;
  for (int i = 0; i < 40; ++i) {
    Coalescing& instance = i % 2 == 0 ? one() : other();
    beginning.push_back(instance.begin({item_, version, 0, low, fmt::format("owner {}", i)}));
  }
  int running = 0;
  for (const FetchAnswer& answer : values_of(std::move(beginning))) running += answer.outcome == FetchOutcome::run;
  EXPECT_EQ(running, 1);
}

TEST_P(CoalescingContract, what_is_asked_for_after_a_fetch_is_fetched) {
  const Version covers = refresh();
  const RefreshAnswer next = ask(low, covers);
  EXPECT_EQ(next.outcome, RefreshOutcome::published);
  EXPECT_GT(next.message.version, covers);
  EXPECT_EQ(look(next.message.version, covers).outcome, FetchOutcome::run);
}

TEST_P(CoalescingContract, an_unknown_item_is_fetched_unless_its_row_says_otherwise) {
  const FetchAnswer unknown = begin(1000, "me", 999);
  EXPECT_EQ(unknown.outcome, FetchOutcome::run);
  EXPECT_EQ(unknown.covers, 1000);
  abandon();
  EXPECT_EQ(look(1000, 1000).outcome, FetchOutcome::obsolete);
  EXPECT_GT(ask(low, 5'000'000'000'000'000).message.version, 5'000'000'000'000'000) << "above the row's";
}

TEST_P(CoalescingContract, a_fetch_that_failed_frees_the_item_and_its_message_still_waits) {
  const Version version = ask(low).message.version;
  begin(version);
  abandon("somebody else");
  EXPECT_EQ(begin(version, "next").outcome, FetchOutcome::busy);
  abandon("me");
  EXPECT_EQ(outcome_of(low), RefreshOutcome::already);
  EXPECT_EQ(begin(version, "next").outcome, FetchOutcome::run);
}

TEST_P(CoalescingContract, a_message_that_was_given_up_does_not_wait) {
  const Version slow = ask(low).message.version;
  const Version fast = ask(high).message.version;
  begin(slow);
  abandon("me", slow);
  EXPECT_EQ(outcome_of(high), RefreshOutcome::already) << "the other message is still on its way";
  begin(fast);
  abandon("me", fast);
  EXPECT_EQ(outcome_of(high), RefreshOutcome::published);
}

TEST_P(CoalescingContract, a_lease_that_ended_lets_the_next_one_fetch) {
  open(150ms);
  const Version version = ask(low).message.version;
  const Version lost = begin(version, "paused").covers;
  ASSERT_TRUE(eventually([&] { return begin_for_long(version, "next").outcome == FetchOutcome::run; }));
  // The late row counts, but the item has another owner now.
  finish(lost, "paused");
  EXPECT_EQ(begin(version, "third").outcome, FetchOutcome::obsolete);
  EXPECT_EQ(begin(lost + 1, "third").outcome, FetchOutcome::busy);
}

TEST_P(CoalescingContract, a_message_presumed_lost_is_repeated_once_with_its_version) {
  open(100ms);
  const RefreshAnswer lost = ask(low);
  RefreshAnswer again;
  ASSERT_TRUE(eventually([&] { return (again = ask(2)).outcome != RefreshOutcome::already; }));
  EXPECT_EQ(again.outcome, RefreshOutcome::repeated);
  EXPECT_EQ(again.message.version, lost.message.version);
  EXPECT_EQ(again.message.lane, low) << "where it was waiting, not where it was asked for";
  EXPECT_EQ(again.before, lost.message);
  EXPECT_GE(again.message.since - lost.message.since, 100ms);
}

TEST_P(CoalescingContract, a_message_in_a_slow_lane_is_given_more_time) {
  open(50ms);
  ask(low);
  const std::string slow = std::exchange(item_, item_ + "-witness");
  ask(low);
  ASSERT_TRUE(eventually([&] { return outcome_of(low) == RefreshOutcome::repeated; }));
  item_ = slow;
  EXPECT_EQ(ask(low, 0, {0s, 1h}).outcome, RefreshOutcome::already);
  EXPECT_EQ(ask(low, 0, {1h}).outcome, RefreshOutcome::repeated) << "another lane's lag does not matter";
}

TEST_P(CoalescingContract, what_could_not_be_published_is_taken_back) {
  const RefreshAnswer failed = ask(low);
  EXPECT_TRUE(unpublish(failed));
  const RefreshAnswer next = ask(low);
  EXPECT_EQ(next.outcome, RefreshOutcome::published);
  EXPECT_GT(next.message.version, failed.message.version) << "a version is never issued twice";
}

TEST_P(CoalescingContract, taking_back_restores_what_was_waiting) {
  const RefreshAnswer slow = ask(low);
  const RefreshAnswer failed = ask(high);
  EXPECT_TRUE(unpublish(failed));
  EXPECT_EQ(outcome_of(low), RefreshOutcome::already);
  const RefreshAnswer again = ask(high);
  EXPECT_EQ(again.outcome, RefreshOutcome::upgraded);
  EXPECT_EQ(again.before, slow.message);
}

TEST_P(CoalescingContract, what_was_satisfied_meanwhile_is_not_restored) {
  const Version slow = ask(low).message.version;
  const RefreshAnswer failed = ask(high);
  EXPECT_EQ(look(slow, slow).outcome, FetchOutcome::obsolete);
  EXPECT_TRUE(unpublish(failed));
  EXPECT_EQ(outcome_of(low), RefreshOutcome::published);
}

TEST_P(CoalescingContract, a_repetition_that_could_not_be_published_is_repeated_again) {
  open(100ms);
  ask(low);
  RefreshAnswer again;
  ASSERT_TRUE(eventually([&] { return (again = ask(low)).to_publish(); }));
  EXPECT_TRUE(unpublish(again));
  EXPECT_EQ(outcome_of(low), RefreshOutcome::repeated);
}

TEST_P(CoalescingContract, of_many_who_take_back_at_once_one_does) {
  ask(low);
  const RefreshAnswer failed = ask(high);
  std::vector<Task<bool>> taking_back;
  for (int i = 0; i < 40; ++i) taking_back.push_back((i % 2 == 0 ? one() : other()).unpublish(item_, failed));
  const std::vector<bool> done = values_of(std::move(taking_back));
  EXPECT_EQ(std::ranges::count(done, true), 1);
  EXPECT_EQ(outcome_of(low), RefreshOutcome::already);
}

TEST_P(CoalescingContract, nobody_takes_back_somebody_elses_message) {
  const RefreshAnswer failed = ask(low);
  finish(begin(failed.message.version).covers);
  const RefreshAnswer theirs = ask(low);
  EXPECT_FALSE(unpublish(failed));
  EXPECT_EQ(ask(low).message, theirs.message);
}

TEST_P(CoalescingContract, a_message_that_the_row_has_satisfied_does_not_wait_for_ever) {
  const Version version = ask(low).message.version;
  // The row was stored, but this could not be reported here.
  const RefreshAnswer next = ask(low, version);
  EXPECT_EQ(next.outcome, RefreshOutcome::published);
  EXPECT_EQ(look(next.message.version, next.message.version).outcome, FetchOutcome::obsolete);
  EXPECT_EQ(outcome_of(low), RefreshOutcome::published);
}

TEST_P(CoalescingContract, items_are_apart) {
  const Version version = ask(low).message.version;
  begin(version);
  item_ += "-other";
  EXPECT_EQ(outcome_of(low), RefreshOutcome::published);
  EXPECT_EQ(begin(version).outcome, FetchOutcome::run);
}

TEST_P(CoalescingContract, versions_grow_also_where_everything_was_lost) {
  Version highest = 0;
  for (int round = 0; round < 6; ++round) {
    // A caller has seen nothing of the other's answers, and nothing is stored.
    Coalescing& instance = round % 2 == 0 ? one() : other();
    const RefreshAnswer answer = run(instance.request({item_, low}));
    ASSERT_EQ(answer.outcome, RefreshOutcome::published);
    ASSERT_GT(answer.message.version, highest) << round;
    highest = answer.message.version;
    wipe();
  }
}

}  // namespace sluice::test
