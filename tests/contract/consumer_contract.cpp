// Contract of a Consumer, tested on a real log.
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, ConsumerContract, testing::Values(embedded), port_engine_name);
#include "tests/contract/consumer_suite.h"

namespace sluice::test {

TEST_P(ConsumerContract, keys_keep_their_order_while_others_run_at_the_same_time) {
  verdict_ = [this](Delivery) { return after(std::chrono::milliseconds(random_.below(4))); };
  publish_many(20, 50);
  consume();
  ASSERT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  EXPECT_EQ(begun_, 1000);
  EXPECT_TRUE(holds_within(1min, [&] { return lag() == 0; }));
}

TEST_P(ConsumerContract, a_later_success_never_hides_an_earlier_failure) {
  config_.drain = 0s;
  bool released = false;
  const std::string slow = "slow";
  verdict_ = [&](const Delivery& delivery) { return delivery.key == slow ? once(released) : say(Handled::done()); };
  publish(slow);
  publish_many(20, 10);
  Consumer& first = consume();
  ASSERT_TRUE(holds_within(1min, [&] { return begun_ == 201 && first.in_work() == 1; }));
  run(first.stop());
  // Of the slow one's partition nothing was committed, of the others everything.
  int64_t left = 0;
  for (const auto& [key, count] : published_) {
    if (messaging::partition_of(key, 4) == messaging::partition_of(slow, 4)) left += count;
  }
  EXPECT_GT(left, 1);
  EXPECT_EQ(lag(), left);

  released = true;
  consume();
  EXPECT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  EXPECT_TRUE(holds_within(1min, [&] { return lag() == 0; }));
}

TEST_P(ConsumerContract, partitions_that_change_hands_while_busy_lose_and_reorder_nothing) {
  verdict_ = [this](Delivery) { return after(std::chrono::milliseconds(random_.below(10))); };
  publish_many(20, 10);
  Consumer& first = consume();
  ASSERT_TRUE(holds_within(1min, [&] { return begun_ > 20; }));
  Consumer& second = consume_at(port().other_log());
  const auto both_are_busy = [&] {
    publish_many(20, 5);
    return first.in_work() > 0 && second.in_work() > 0;
  };
  ASSERT_TRUE(holds_within(1min, both_are_busy));
  Consumer& third = consume();
  for (int i = 0; i < 10; ++i) publish_many(20, 5);
  run(first.stop());
  publish_many(20, 5);
  run(second.stop());
  publish_many(20, 5);
  ASSERT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  ASSERT_TRUE(holds_within(1min, [&] { return lag() == 0; }));
  EXPECT_EQ(third.in_work(), 0U);
}

TEST_P(ConsumerContract, a_consumer_that_stops_leaves_nothing_to_do_twice) {
  verdict_ = [this](Delivery) { return after(10ms); };
  publish_many(20, 10);
  Consumer& first = consume();
  ASSERT_TRUE(holds_within(1min, [&] { return begun_ > 0; }));
  run(first.stop());
  const int before = begun_;
  consume();
  ASSERT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  EXPECT_EQ(begun_, 200) << before << " before the first stopped";
}

TEST_P(ConsumerContract, a_failing_engine_pauses_it_and_nothing_is_committed_or_given_up) {
  bool down = true;
  verdict_ = [&](Delivery) { return down ? fail_engine() : say(Handled::done()); };
  publish_many(10, 5);
  consume();
  ASSERT_TRUE(holds_within(1min, [&] { return begun_ > 10; }));
  EXPECT_EQ(lag(), 50);
  down = false;
  ASSERT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  EXPECT_TRUE(holds_within(1min, [&] { return lag() == 0; }));
  messaging::DeadLetters letters(log(), view(), clock_, {letters_});
  EXPECT_EQ(run(letters.open()).at(letters_), 0U);
}

TEST_P(ConsumerContract, a_poison_message_ends_in_the_dead_letters_and_is_replayed_when_asked) {
  bool mended = false;
  const std::string poisoned = "key 3";
  verdict_ = [&](const Delivery& delivery) {
    return say(delivery.key == poisoned && delivery.payload == "2" && !mended ? Handled::dead("BROKEN", "as ever")
                                                                              : Handled::done());
  };
  publish_many(10, 5);
  consume();
  ASSERT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  ASSERT_TRUE(holds_within(1min, [&] { return lag() == 0; }));

  messaging::DeadLetters letters(log(), view(), clock_, {letters_});
  const auto page = run(letters.list({.reason = "BROKEN", .key = poisoned}, 10));
  ASSERT_EQ(page.letters.size(), 1U);
  EXPECT_EQ(page.letters[0].original.payload, "2");
  EXPECT_EQ(page.letters[0].origin.topic, topic_);

  mended = true;
  const int before = begun_;
  EXPECT_EQ(run(letters.replay({})).settled, 1U);
  EXPECT_EQ(run(letters.open()).at(letters_), 0U);
  ASSERT_TRUE(holds_within(1min, [&] { return begun_ == before + 1; }));
  EXPECT_TRUE(holds_within(1min, [&] { return lag() == 0; }));
}

TEST_P(ConsumerContract, what_always_fails_is_tried_and_then_put_aside_and_its_key_goes_on) {
  verdict_ = [&](const Delivery& delivery) {
    return say(delivery.payload == "1" ? Handled::retry("BUSY") : Handled::done());
  };
  publish("a");
  publish("a");
  consume();
  messaging::DeadLetters letters(log(), view(), clock_, {letters_});
  ASSERT_TRUE(holds_within(1min, [&] { return run(letters.open()).at(letters_) == 1; }));
  EXPECT_EQ(begun_, 1 + 3);
  finished_["a"] = 2;  // it has been put aside
  publish("a");
  EXPECT_TRUE(holds_within(1min, [&] { return all_finished(); }));
  EXPECT_EQ(run(letters.list({}, 10)).letters.front().failure.tries, 3);
}

}  // namespace sluice::test
