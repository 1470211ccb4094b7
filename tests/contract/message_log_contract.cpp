// Contract of every messaging::MessageLog for publishers, tested on a real engine. message_groups_contract.cpp has the
// contract for groups of readers.
#include "tests/contract/message_log_suite.h"

namespace sluice::test {

TEST_P(MessageLogContract, a_message_stands_in_the_partition_of_its_key_behind_the_one_before) {
  const std::string topic = new_topic(5);
  for (int i = 0; i < 20; ++i) {
    const std::string key = fmt::format("key {}", i);
    const Position first = publish({topic, key, "a"});
    const Position second = publish({topic, key, "b"});
    EXPECT_EQ(first.topic, topic);
    EXPECT_EQ(first.partition, messaging::partition_of(key, 5));
    EXPECT_EQ(second.partition, first.partition);
    EXPECT_GT(second.offset, first.offset);
  }
}

TEST_P(MessageLogContract, outcomes_stand_in_the_order_of_the_messages) {
  const std::string topic = new_topic();
  const std::string other = new_topic(1);
  std::vector<Message> messages;
  for (int i = 0; i < 40; ++i) messages.push_back({i % 3 == 0 ? other : topic, fmt::format("key {}", i % 7), "x"});
  const std::vector<Published> outcomes = run(log().publish(messages));
  ASSERT_EQ(outcomes.size(), messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& position = std::get<Position>(outcomes[i]);
    EXPECT_EQ(position.topic, messages[i].topic);
    EXPECT_EQ(position.partition, messaging::partition_of(messages[i].key, messages[i].topic == other ? 1 : 4));
  }
  EXPECT_TRUE(run(log().publish({})).empty());
}

TEST_P(MessageLogContract, a_message_arrives_as_it_was_published) {
  const std::string topic = new_topic();
  const std::string binary("\0\xff\xfe\n key", 8);
  const messaging::Delivery arrived =
      round_trip(topic, {"", binary, binary + "payload", {{"message-type", "Tried"}, {"odd", binary}, {"empty", ""}}});
  EXPECT_EQ(arrived.headers.size(), 3U);
  EXPECT_EQ(arrived.header("message-type"), "Tried");
  EXPECT_EQ(arrived.header("odd"), binary);
  EXPECT_EQ(arrived.header("empty"), "");
  EXPECT_EQ(arrived.header("missing"), std::nullopt);
  EXPECT_LT(arrived.published_at, clock_.wall() + 1min);
  EXPECT_GT(arrived.published_at, clock_.wall() - 1min);
}

TEST_P(MessageLogContract, an_empty_payload_and_an_empty_key_are_a_message) {
  const std::string topic = new_topic();
  EXPECT_TRUE(round_trip(topic, {"", "key", ""}).headers.empty());
  round_trip(topic, {"", "", "payload"});
  round_trip(topic, {"", "", ""});
}

TEST_P(MessageLogContract, the_largest_message_arrives) {
  const std::string topic = new_topic();
  std::string payload(size_t{1} << 20, 'x');
  payload[payload.size() / 2] = '\0';
  round_trip(topic, {"", "key", payload});
  // Nothing that packs well.
  payload.assign(messaging::max_message_bytes - 3, '\0');
  uint32_t state = 1;
  for (char& c : payload) c = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24);
  round_trip(topic, {"", "key", payload});
}

TEST_P(MessageLogContract, a_message_too_large_is_refused_and_holds_back_only_what_comes_behind_it) {
  const std::string topic = new_topic(1);
  const std::string too_large(messaging::max_message_bytes, 'x');
  const std::vector<Message> messages{{topic, "a", "a0"}, {topic, "a", too_large}, {topic, "b", "b0"},
                                      {topic, "a", "a1"}, {topic, "b", "b1"},      {topic, "a", "a2"}};
  const std::vector<Published> outcomes = run(log().publish(messages));
  ASSERT_EQ(outcomes.size(), messages.size());
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes[0]));
  ASSERT_TRUE(std::holds_alternative<Rejected>(outcomes[1]));
  EXPECT_FALSE(std::get<Rejected>(outcomes[1]).reason.empty());
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes[2]));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(outcomes[3]));
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes[4]));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(outcomes[5]));

  std::vector<std::string> stored;
  for (const auto& each : run(view().read(topic, 0, 0, 100))) stored.emplace_back(each.payload);
  std::ranges::sort(stored);
  EXPECT_EQ(stored, (std::vector<std::string>{"a0", "b0", "b1"}));
  publish({topic, "a", "the next call is free again"});
}

TEST_P(MessageLogContract, an_unknown_topic_is_refused_and_not_made) {
  const std::string topic = new_topic();
  const std::string unknown = unique("unknown");
  const std::vector<Message> messages{{unknown, "a", "0"}, {unknown, "a", "1"}, {unknown, "b", "2"}, {topic, "a", "3"}};
  const std::vector<Published> outcomes = run(log().publish(messages));
  EXPECT_TRUE(std::holds_alternative<Rejected>(outcomes.at(0)));
  EXPECT_TRUE(std::holds_alternative<HeldBack>(outcomes.at(1)));
  EXPECT_TRUE(std::holds_alternative<Rejected>(outcomes.at(2)));
  EXPECT_TRUE(std::holds_alternative<Position>(outcomes.at(3)));
  EXPECT_EQ(described(unknown).name, "");
  EXPECT_EQ(run(log().partitions(unknown)), 0);
  EXPECT_THROW(publish({unknown, "a", "0"}), std::invalid_argument);
}

TEST_P(MessageLogContract, a_topic_that_was_refused_is_taken_once_it_is_declared) {
  const std::string late = unique("late");
  const std::vector<Published> refused = run(log().publish({{late, "a", "0"}}));
  EXPECT_TRUE(std::holds_alternative<Rejected>(refused.at(0)));
  run(port().other_log().declare({{late, 2, 1h}}));
  EXPECT_TRUE(holds_within(1min, [&] {
    try {
      const std::vector<Published> outcomes = run(log().publish({{late, "a", "0"}}));
      return std::holds_alternative<Position>(outcomes.at(0));
    } catch (const EngineUnavailable&) {  // its client has yet to learn of the topic; that is no refusal
      return false;
    }
  }));
}

TEST_P(MessageLogContract, declaring_again_changes_the_retention_and_never_the_partitions) {
  const std::string topic = new_topic(3, 1h);
  const Position before = publish({topic, "key", "0"});
  EXPECT_EQ(run(port().other_log().partitions(topic)), 3);
  run(log().declare({{topic, 3, 1h}}));
  EXPECT_EQ(described(topic), (Topic{topic, 3, 1h}));
  run(log().declare({{topic, 7, 2h}}));
  EXPECT_TRUE(holds_within(1min, [&] { return described(topic) == Topic{topic, 3, 2h}; }));
  const Position after = publish({topic, "key", "1"});
  EXPECT_EQ(after.partition, before.partition);
  EXPECT_GT(after.offset, before.offset);
}

TEST_P(MessageLogContract, several_are_declared_at_once) {
  const std::string old = new_topic(1);
  const std::vector<Topic> topics{{unique("topic"), 2, 1h}, {old, 1, 1h}, {unique("topic"), 12, 48h}};
  run(log().declare(topics));
  for (const Topic& each : topics) EXPECT_EQ(described(each.name), each);
}

TEST_P(MessageLogContract, what_is_older_than_the_retention_is_removed_and_nothing_else) {
  const std::string topic = new_topic(2, 1s);
  const std::string lasting = new_topic(2, 1h);
  std::map<std::string, int64_t> last;
  for (int i = 0; i < 20; ++i) {
    last[std::to_string(i % 2)] = publish({topic, key_in(i % 2, 2), "short"}).offset;
    publish({lasting, key_in(i % 2, 2), "long"});
  }
  EXPECT_TRUE(holds_within(1min, [&] { return kept(topic) == 0; }));
  EXPECT_EQ(kept(lasting), 20U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_GT(publish({topic, key_in(i, 2), "later"}).offset, last[std::to_string(i)]) << "offsets never come again";
  }
}

TEST_P(MessageLogContract, names_what_it_remembers) {
  const std::string topic = new_topic();
  const auto memory = run(log().memory(topic));
  publish({topic, "key", "0"});
  EXPECT_EQ(run(log().memory(topic)), memory);
  EXPECT_EQ(run(port().other_log().memory(topic)), memory);
}

}  // namespace sluice::test
