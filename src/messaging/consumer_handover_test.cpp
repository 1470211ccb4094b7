// Messages of partitions that change hands.
#include "messaging/testing/consumer_fixture.h"

namespace sluice::messaging {
namespace {

using Strings = std::vector<std::string>;

class ConsumerHandoverTest : public ConsumerFixture {};

TEST_F(ConsumerHandoverTest, a_partition_that_is_asked_back_is_finished_and_committed_first) {
  verdict = [this](Delivery) { return after(3s, Handled::done()); };
  for (const std::string key : {"a", "d"}) publish(key, key);
  consume();
  pass(1s);
  consume();
  pass(10s);
  EXPECT_EQ(log.assignments("shop"), 3);
  EXPECT_EQ(begun.size(), 2U);  // nothing was handled twice
  EXPECT_EQ(done.size(), 2U);
  EXPECT_EQ(committed("a"), 1U);
  EXPECT_EQ(committed("d"), 1U);
}

TEST_F(ConsumerHandoverTest, a_partition_is_given_back_as_soon_as_it_is_finished) {
  config.commit_every = 1min;
  config.handover = 1h;
  verdict = [this](Delivery) { return after(3s, Handled::done()); };
  for (const std::string key : {"a", "d"}) publish(key, key);
  consume();
  pass(1s);
  consume();
  pass(2100ms);
  EXPECT_EQ(log.assignments("shop"), 3);
}

TEST_F(ConsumerHandoverTest, what_is_not_finished_in_time_goes_to_the_next_and_its_end_does_not_count) {
  config.handler_timeout = 1h;
  config.handover = 8s;
  int begins = 0;
  verdict = [&](Delivery) { return after(++begins <= 2 ? 30s : 10min, Handled::done()); };
  for (const std::string key : {"a", "d"}) publish(key, key);
  consume();
  pass(1s);
  consume();
  pass(9s);
  EXPECT_EQ(begun.size(), 3U);  // one of them again
  pass(25s);                    // the first handlers have ended, the third has not
  EXPECT_EQ(done.size(), 2U);
  EXPECT_EQ(committed("a") + committed("d"), 1U);
  pass(10min);
  EXPECT_EQ(committed("a") + committed("d"), 2U);
}

TEST_F(ConsumerHandoverTest, completions_of_an_old_assignment_are_ignored_and_its_key_waits_for_them) {
  config.handler_timeout = 1h;
  config.session = 10s;
  verdict = [this](Delivery) { return after(1min, Handled::done()); };
  publish("a", "1");
  publish("a", "2");
  consume();
  pass(1s);
  // Silent for longer than its session, then back: the same partitions, other assignments.
  log.fails = [](std::string_view call) { return call == "fetch"; };
  pass(15s);
  log.fails = [](std::string_view) { return false; };
  Consumer& other = consume();
  pass(100ms);
  run(other.stop());
  pass(10s);
  EXPECT_EQ(begun, (Strings{"1", "1"}));  // here, and there until it stopped
  pass(31s);                              // the first handler has ended
  EXPECT_EQ(begun, (Strings{"1", "1", "1"}));
  EXPECT_EQ(committed("a"), 0U);
  pass(3min);
  EXPECT_EQ(committed("a"), 2U);
  EXPECT_EQ(done.back(), "2");
}

TEST_F(ConsumerHandoverTest, a_consumer_that_stops_hands_over_what_is_asked_back_meanwhile) {
  config.drain = 1min;
  verdict = [this](Delivery) { return after(5s, Handled::done()); };
  for (const std::string key : {"a", "d"}) publish(key, key);
  Consumer& first = consume();
  pass(1s);
  consume();
  run(first.stop());
  pass(10s);
  EXPECT_EQ(done.size(), 2U);
  EXPECT_EQ(committed("a") + committed("d"), 2U);
}

}  // namespace
}  // namespace sluice::messaging
