// Messages that fail.
#include "messaging/testing/consumer_fixture.h"

namespace sluice::messaging {
namespace {

using Strings = std::vector<std::string>;

class ConsumerTriesTest : public ConsumerFixture {
 protected:
  Delivery first_letter() {
    for (int32_t partition : {0, 1}) {
      std::vector<Delivery> found;
      run(read_letters(partition, found));
      if (!found.empty()) return found.front();
    }
    return {};
  }
  Task<> read_letters(int32_t partition, std::vector<Delivery>& found) {
    found = co_await log.read("letters", partition, 0, 1);
  }
  Task<Handled> fail_for(const Delivery& delivery, std::string_view poison) {
    return say(delivery.payload == poison ? Handled::retry("BROKEN", "as always") : Handled::done());
  }
};

TEST_F(ConsumerTriesTest, a_failure_that_passes_is_tried_again_and_only_its_key_waits) {
  config.retry = {.first = 10s, .factor = 1, .max = 10s};
  int failures = 2;
  verdict = [&](const Delivery& delivery) {
    return say(delivery.payload == "a1" && failures-- > 0 ? Handled::retry("BUSY") : Handled::done());
  };
  for (const std::string text : {"a1", "a2", "c1", "c2"}) publish(text.substr(0, 1), text);
  consume();
  pass(1ms);
  EXPECT_EQ(done, (Strings{"c1", "c2"}));
  pass(30s);
  EXPECT_EQ(done, (Strings{"c1", "c2", "a1", "a2"}));
  EXPECT_EQ(std::ranges::count(begun, "a1"), 3);
  EXPECT_EQ(letters(), 0U);
}

TEST_F(ConsumerTriesTest, a_poison_message_ends_in_the_dead_letters_and_does_not_block_its_partition) {
  verdict = [this](const Delivery& delivery) { return fail_for(delivery, R"({"n": 1})"); };
  publish("a", R"({"n": 1})");
  publish("a", R"({"n": 2})");
  consume();
  pass(1min);
  EXPECT_EQ(done, Strings{R"({"n": 2})"});
  EXPECT_EQ(begun.size(), 4U);
  EXPECT_EQ(committed("a"), 2U);
  const DeadLetter letter = read_letter(first_letter());
  EXPECT_EQ(letter.group, "shop");
  EXPECT_EQ(letter.origin, (Position{"orders", partition_of("a", 2), 0}));
  EXPECT_EQ(letter.failure.reason, "BROKEN");
  EXPECT_EQ(letter.failure.error, "as always");
  EXPECT_EQ(letter.failure.tries, 3);
  EXPECT_EQ(letter.failure.worker, "worker-1");
  EXPECT_EQ(letter.original.key + letter.original.payload, R"(a{"n": 1})");
  EXPECT_EQ(letter.original.headers, (Headers{{"message-type", "Ordered"}}));
}

TEST_F(ConsumerTriesTest, what_is_of_no_use_is_not_tried_again) {
  verdict = [](Delivery) { return say(Handled::dead("PARSE_ERROR")); };
  publish("a", "1");
  consume();
  pass(1ms);
  EXPECT_EQ(begun.size(), 1U);
  EXPECT_EQ(letters(), 1U);
}

TEST_F(ConsumerTriesTest, an_exception_is_a_try) {
  verdict = [](const Delivery&) -> Task<Handled> { throw std::runtime_error("no such order"); };
  publish("a", "1");
  consume();
  pass(1min);
  EXPECT_EQ(begun.size(), 3U);
  const DeadLetter letter = read_letter(first_letter());
  EXPECT_EQ(letter.failure.reason + ": " + letter.failure.error, "HANDLER_FAILED: no such order");
}

TEST_F(ConsumerTriesTest, a_handler_that_does_not_end_in_time_is_cancelled_and_that_is_a_try) {
  config.handlers = 1;
  config.handler_timeout = 2s;
  verdict = [this](const Delivery& delivery) {
    return delivery.payload == "1" ? after(24h, Handled::done()) : say(Handled::done());
  };
  publish("a", "1");
  publish("a", "2");
  consume();
  pass(10s);
  EXPECT_EQ(begun, (Strings{"1", "1", "1", "2"}));
  EXPECT_EQ(at_once, 0);
  EXPECT_EQ(read_letter(first_letter()).failure.reason, "HANDLER_TIMEOUT");
}

TEST_F(ConsumerTriesTest, what_is_asked_to_come_later_does_without_a_try) {
  int asked = 0;
  verdict = [&](Delivery) { return say(++asked <= 10 ? Handled::later(1min) : Handled::done()); };
  publish("a", "1");
  consume();
  pass(599s);
  EXPECT_EQ(asked, 10);
  pass(2s);
  EXPECT_EQ(done, Strings{"1"});
  EXPECT_EQ(letters(), 0U);
}

TEST_F(ConsumerTriesTest, a_failing_engine_pauses_the_consumer_and_is_never_a_try) {
  bool down = true;
  verdict = [&](Delivery) { return down ? fail_engine() : say(Handled::done()); };
  for (const std::string key : {"a", "b", "c", "d"}) publish(key, key);
  consume();
  pass(1h);
  EXPECT_EQ(committed("a"), 0U);
  EXPECT_EQ(letters(), 0U);
  // One at a time asks whether it is back, every half minute at most on average.
  EXPECT_LE(begun.size(), 400U);
  EXPECT_GE(begun.size(), 100U);
  down = false;
  pass(31s);
  EXPECT_EQ(done.size(), 4U);
  EXPECT_GT(committed("a"), 0U);
}

TEST_F(ConsumerTriesTest, one_key_with_a_failing_engine_does_not_starve_the_others) {
  verdict = [](const Delivery& delivery) { return delivery.key == "a" ? fail_engine() : say(Handled::done()); };
  publish("a", "never");
  for (int i = 0; i < 50; ++i) publish("c", std::to_string(i));
  consume();
  pass(1min);
  EXPECT_EQ(done.size(), 50U);
  EXPECT_EQ(committed("a"), 0U);
}

TEST_F(ConsumerTriesTest, a_message_is_finished_only_when_the_log_has_its_letter) {
  bool down = true;
  log.fails = [&](std::string_view call) { return call == "publish" && down; };
  verdict = [](Delivery) { return say(Handled::dead("BROKEN")); };
  down = false;
  publish("a", "1");
  down = true;
  consume();
  pass(10min);
  EXPECT_EQ(committed("a"), 0U);
  EXPECT_EQ(begun.size(), 1U);
  down = false;
  pass(31s);
  EXPECT_EQ(letters(), 1U);
  EXPECT_EQ(committed("a"), 1U);
  EXPECT_EQ(begun.size(), 1U);
}

TEST_F(ConsumerTriesTest, a_letter_that_is_too_large_goes_without_its_payload) {
  log.largest = 400;
  verdict = [](Delivery) { return say(Handled::dead("BROKEN")); };
  publish("a", std::string(390, 'x'));
  consume();
  pass(1s);
  const DeadLetter letter = read_letter(first_letter());
  EXPECT_FALSE(letter.complete);
  EXPECT_EQ(letter.failure.reason, "BROKEN");
}

TEST_F(ConsumerTriesTest, a_letter_that_is_too_large_without_its_payload_goes_without_headers_and_most_of_its_key) {
  verdict = [](Delivery) { return say(Handled::dead("BROKEN", std::string(1 << 20, 'e'))); };
  const std::string key(9'000, 'k');
  run(publish_all({{"orders", key, "1", {{"large", std::string(2'000, 'h')}}}}));
  log.rejects = [](const Message& message) { return bytes_of(message) > 8'000; };
  consume();
  pass(1s);
  const DeadLetter letter = read_letter(first_letter());
  EXPECT_FALSE(letter.complete);
  EXPECT_TRUE(letter.original.headers.empty());
  EXPECT_EQ(letter.original.key, key.substr(0, max_least_key_bytes));
  EXPECT_EQ(letter.failure.error.size(), max_error_bytes);
  EXPECT_EQ(committed(key), 1U);
}

TEST_F(ConsumerTriesTest, an_error_is_not_cut_within_a_character) {
  std::string error(max_error_bytes - 1, 'e');
  error += "\u00e9";
  verdict = [error](Delivery) { return say(Handled::dead("BROKEN", error)); };
  publish("a", "1");
  consume();
  pass(1s);
  EXPECT_EQ(read_letter(first_letter()).failure.error, error.substr(0, max_error_bytes - 1));
}

}  // namespace
}  // namespace sluice::messaging
