#include "messaging/consumer.h"

#include "messaging/testing/consumer_fixture.h"

namespace sluice::messaging {
namespace {

using Strings = std::vector<std::string>;

class ConsumerTest : public ConsumerFixture {};

TEST_F(ConsumerTest, handles_what_was_published_before_and_after_it_started_and_commits) {
  publish("a", "1");
  consume();
  pass(100ms);
  publish("a", "2");
  pass(100ms);
  EXPECT_EQ(done, (Strings{"1", "2"}));
  EXPECT_EQ(committed("a"), 0U);  // commits come in batches
  pass(1s);
  EXPECT_EQ(committed("a"), 2U);
}

TEST_F(ConsumerTest, a_later_success_never_hides_an_earlier_failure) {
  config.handler_timeout = 1h;
  verdict = [this](const Delivery& delivery) {
    return delivery.payload == "slow" ? after(10min, Handled::done()) : say(Handled::done());
  };
  // The keys share a partition, or the test would prove nothing.
  ASSERT_EQ(partition_of("a", 2), partition_of("c", 2));
  ASSERT_NE(partition_of("a", 2), partition_of("d", 2));
  publish("a", "first");
  publish("a", "slow");
  for (int i = 0; i < 20; ++i) publish("c", "quick");
  consume();
  pass(1min);
  EXPECT_EQ(done.size(), 21U);
  EXPECT_EQ(committed("a"), 1U);
  pass(10min);
  EXPECT_EQ(done.size(), 22U);
  EXPECT_EQ(committed("a"), 22U);
}

TEST_F(ConsumerTest, keys_do_not_wait_for_each_other_and_each_keeps_its_order) {
  verdict = [this](Delivery) { return after(1s, Handled::done()); };
  for (const std::string n : {"1", "2", "3"}) {
    for (const std::string key : {"a", "b", "c"}) publish(key, key + n);
  }
  consume();
  pass(3100ms);
  EXPECT_EQ(done.size(), 9U);
  EXPECT_EQ(most_at_once, 3);
  for (const std::string key : {"a", "b", "c"}) {
    Strings of_key;
    std::ranges::copy_if(done, std::back_inserter(of_key), [&](const auto& text) { return text[0] == key[0]; });
    EXPECT_EQ(of_key, (Strings{key + "1", key + "2", key + "3"}));
  }
}

TEST_F(ConsumerTest, no_more_handlers_run_at_once_than_allowed) {
  config.handlers = 4;
  verdict = [this](Delivery) { return after(1s, Handled::done()); };
  for (int i = 0; i < 20; ++i) publish("key" + std::to_string(i), "x");
  consume();
  pass(5100ms);
  EXPECT_EQ(done.size(), 20U);
  EXPECT_EQ(most_at_once, 4);
}

TEST_F(ConsumerTest, a_partition_has_a_bounded_number_in_work_and_goes_on_where_it_paused) {
  config.in_work = 40;
  verdict = [this](Delivery) { return after(1s, Handled::done()); };
  std::vector<Message> messages;
  for (int i = 0; i < 1000; ++i) messages.push_back({"orders", std::to_string(i % 100), std::to_string(i)});
  run(publish_all(std::move(messages)));
  const Consumer& consumer = consume();
  size_t most = 0;
  for (int i = 0; i < 600 && done.size() < 1000; ++i) {
    pass(100ms);
    most = std::max(most, consumer.in_work());
  }
  EXPECT_EQ(done.size(), 1000U);
  EXPECT_LE(most, 80U);  // of two partitions
  EXPECT_GE(most, 60U);
}

TEST_F(ConsumerTest, a_partition_has_a_bounded_number_of_bytes_in_work) {
  config.in_work_bytes = 1 << 20;
  config.batch = 4;
  verdict = [this](Delivery) { return after(1s, Handled::done()); };
  const std::string large(100'000, 'x');
  for (int i = 0; i < 60; ++i) publish(std::to_string(i), large);
  const Consumer& consumer = consume();
  size_t most = 0;
  for (int i = 0; i < 600 && done.size() < 60; ++i) {
    pass(100ms);
    most = std::max(most, consumer.in_work());
  }
  EXPECT_EQ(done.size(), 60U);
  EXPECT_LE(most, 24U);  // two partitions, with a batch over three quarters each at most
}

TEST_F(ConsumerTest, a_message_that_waits_for_long_does_not_stop_its_partition_before_the_window_is_full) {
  config.handler_timeout = 1h;
  config.in_work = 40;
  config.window = 400;
  verdict = [this](const Delivery& delivery) {
    return delivery.payload == "0" ? after(30min, Handled::done()) : say(Handled::done());
  };
  std::vector<Message> messages;
  for (int i = 0; i < 1000; ++i) messages.push_back({"orders", i == 0 ? "a" : "c", std::to_string(i)});
  run(publish_all(std::move(messages)));
  consume();
  pass(1min);
  EXPECT_GE(done.size(), 300U);
  EXPECT_LE(done.size(), 400U);
  pass(30min);
  EXPECT_EQ(done.size(), 1000U);
}

TEST_F(ConsumerTest, progress_is_committed_again_after_the_log_failed) {
  int failures = 3;
  log.fails = [&](std::string_view call) { return call == "commit" && failures-- > 0; };
  publish("a", "1");
  consume();
  pass(10s);
  EXPECT_EQ(committed("a"), 1U);
  EXPECT_EQ(done, Strings{"1"});
}

TEST_F(ConsumerTest, goes_on_after_fetching_failed) {
  int failures = 5;
  log.fails = [&](std::string_view call) { return call == "fetch" && failures-- > 0; };
  publish("a", "1");
  consume();
  pass(20s);
  EXPECT_EQ(done, Strings{"1"});
}

TEST_F(ConsumerTest, stopping_finishes_what_is_in_work_commits_and_leaves) {
  verdict = [this](Delivery) { return after(2s, Handled::done()); };
  for (const std::string text : {"1", "2", "3"}) publish("a", text);
  Consumer& consumer = consume();
  pass(1s);
  run(consumer.stop());
  EXPECT_EQ(done, (Strings{"1", "2", "3"}));
  EXPECT_EQ(committed("a"), 3U);
  // A consumer that has left does not delay the others until its session ends.
  publish("a", "4");
  consume();
  pass(2100ms);
  EXPECT_EQ(done.back(), "4");
}

TEST_F(ConsumerTest, stopping_an_idle_consumer_takes_no_time) {
  Consumer& consumer = consume();
  pass(100ms);
  const Instant before = clock.now();
  run(consumer.stop());
  EXPECT_EQ(clock.now() - before, 0ms);
}

TEST_F(ConsumerTest, stopping_waits_no_longer_than_it_may_and_what_was_cut_off_comes_again) {
  config.drain = 5s;
  config.handler_timeout = 1h;
  verdict = [this](Delivery) { return after(1min, Handled::done()); };
  publish("a", "1");
  Consumer& consumer = consume();
  pass(1s);
  const Instant before = clock.now();
  run(consumer.stop());
  EXPECT_LE(clock.now() - before, 5100ms);
  EXPECT_EQ(committed("a"), 0U);
  verdict = nullptr;
  consume();
  pass(1s);
  EXPECT_EQ(begun, (Strings{"1", "1"}));
  EXPECT_EQ(done, Strings{"1"});
}

TEST_F(ConsumerTest, a_log_that_is_away_does_not_keep_a_consumer_from_stopping) {
  publish("a", "1");
  Consumer& consumer = consume();
  pass(10ms);
  log.takes = [] { return Duration{1h}; };
  const Instant before = clock.now();
  run(consumer.stop());
  EXPECT_LE(clock.now() - before, 6s);
}

}  // namespace
}  // namespace sluice::messaging
