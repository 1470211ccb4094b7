// Contract of every messaging::LogView, tested on a real engine.
#include "tests/contract/log_view_suite.h"

namespace sluice::test {

TEST_P(LogViewContract, topics_are_there_with_what_they_hold) {
  const std::string topic = new_topic(3, 5h);
  const TopicView empty = look_at(topic);
  EXPECT_EQ(empty.topic, (Topic{topic, 3, 5h}));
  ASSERT_EQ(empty.partitions.size(), 3U);
  for (int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(empty.partitions[static_cast<size_t>(i)].partition, i);
    EXPECT_EQ(empty.partitions[static_cast<size_t>(i)].first, empty.partitions[static_cast<size_t>(i)].end);
  }
  const std::vector<Position> positions = publish_numbers(topic, key_in(1, 3), 10);
  EXPECT_TRUE(holds_within(5s, [&] {
    const messaging::PartitionBounds bounds = look_at(topic).partitions[1];
    return bounds.first <= positions.front().offset && bounds.end > positions.back().offset;
  }));
  const messaging::PartitionBounds untouched = look_at(topic).partitions[2];
  EXPECT_EQ(untouched.first, untouched.end);
}

TEST_P(LogViewContract, a_partition_is_read_from_anywhere) {
  const std::string topic = new_topic(2);
  const std::vector<Position> positions = publish_numbers(topic, key_in(1, 2), 10);
  using Payloads = std::vector<std::string>;
  EXPECT_EQ(read(topic, 1, 0, 3), (Payloads{"0", "1", "2"}));
  EXPECT_EQ(read(topic, 1, positions[7].offset, 100), (Payloads{"7", "8", "9"}));
  EXPECT_EQ(read(topic, 1, positions[7].offset + 1, 1), (Payloads{"8"}));
  EXPECT_EQ(read(topic, 1, positions[9].offset + 1, 100), Payloads{});
  EXPECT_EQ(read(topic, 0, 0, 100), Payloads{});
  const auto delivery = run(view().read(topic, 1, positions[3].offset, 1)).at(0);
  EXPECT_EQ(delivery.position(), positions[3]);
}

TEST_P(LogViewContract, a_whole_partition_is_read_in_pieces) {
  const std::string topic = new_topic(1);
  for (int i = 0; i < 5; ++i) publish_numbers(topic, "key", 100);
  int64_t next = 0;
  size_t count = 0;
  for (int round = 0; round < 600 && count < 500; ++round) {
    for (const auto& each : run(view().read(topic, 0, next, 70))) {
      EXPECT_GE(each.offset, next);
      next = each.offset + 1;
      ++count;
    }
  }
  EXPECT_EQ(count, 500U);
}

TEST_P(LogViewContract, large_messages_are_read_a_few_at_a_time) {
  const std::string topic = new_topic(1);
  constexpr int count = 12;
  for (int i = 0; i < count; ++i) publish({topic, "key", std::string(1 << 20, static_cast<char>('a' + i))});
  std::string seen;
  int64_t next = 0;
  for (auto some = run(view().read(topic, 0, next, 100)); !some.empty(); some = run(view().read(topic, 0, next, 100))) {
    EXPECT_LE(some.size(), 6U);
    for (const auto& each : some) seen += each.payload.front();
    next = some.back().offset + 1;
  }
  EXPECT_EQ(seen, "abcdefghijkl");
}

TEST_P(LogViewContract, reading_moves_no_group) {
  const std::string topic = new_topic(1);
  publish_numbers(topic, "key", 10);
  read(topic, 0, 0, 100);
  LogReader& reader = this->reader(unique("group"), {topic});
  EXPECT_TRUE(read_until_seen({&reader}, 10));
}

TEST_P(LogViewContract, the_lag_of_a_group_is_true_within_5_seconds) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  const std::vector<Position> positions = publish_numbers(topic, "key", 10);
  LogReader& reader = this->reader(group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&reader}, 10));
  run(reader.commit(reader.assignment(0), positions[3].offset + 1));
  EXPECT_TRUE(lags_within_5s(group, 6));
  const auto seen = only_partition_of(group).value();
  EXPECT_EQ(seen.topic, topic);
  EXPECT_EQ(seen.partition, 0);
  EXPECT_EQ(seen.committed, positions[3].offset + 1);
  EXPECT_FALSE(seen.member.empty());

  publish_numbers(topic, "key", 5);
  EXPECT_TRUE(lags_within_5s(group, 11));
  ASSERT_TRUE(read_until_seen({&reader}, 15));
  run(reader.commit());
  EXPECT_TRUE(lags_within_5s(group, 0));
}

TEST_P(LogViewContract, a_group_without_members_is_still_there_and_falls_behind) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  publish_numbers(topic, "key", 10);
  LogReader& reader = this->reader(group, {topic});
  ASSERT_TRUE(read_until_seen({&reader}, 10));
  run(reader.leave());
  publish_numbers(topic, "key", 7);
  EXPECT_TRUE(lags_within_5s(group, 7));
  EXPECT_TRUE(holds_within(5s, [&] { return only_partition_of(group).value().member.empty(); }));
}

TEST_P(LogViewContract, what_was_trimmed_is_gone_for_everybody) {
  const std::string topic = new_topic(2);
  const std::string key = key_in(0, 2);
  const std::vector<Position> positions = publish_numbers(topic, key, 20);
  publish_numbers(topic, key_in(1, 2), 5);
  run(view().trim(topic, 0, positions[12].offset));
  EXPECT_EQ(read(topic, 0, 0, 100), (std::vector<std::string>{"12", "13", "14", "15", "16", "17", "18", "19"}));
  EXPECT_EQ(read(topic, 1, 0, 100).size(), 5U);
  EXPECT_GT(look_at(topic).partitions[0].first, positions[11].offset);

  LogReader& reader = this->reader(unique("group"), {topic});
  ASSERT_TRUE(read_until_seen({&reader}, 13));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.seen().size(), 13U);
  run(view().trim(topic, 0, positions[19].offset + 1));
  EXPECT_TRUE(read(topic, 0, 0, 100).empty());
  EXPECT_GT(publish({topic, key, "next"}).offset, positions[19].offset);
}

TEST_P(LogViewContract, what_was_trimmed_is_nobodys_lag) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  const std::vector<Position> positions = publish_numbers(topic, "key", 20);
  LogReader& reader = this->reader(group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&reader}, 20));
  run(reader.commit(reader.assignment(0), positions[4].offset + 1));
  EXPECT_TRUE(lags_within_5s(group, 15));
  run(view().trim(topic, 0, positions[10].offset));
  EXPECT_TRUE(lags_within_5s(group, 10));
}

TEST_P(LogViewContract, groups_stand_in_order) {
  const std::string one = new_topic(2);
  const std::string two = new_topic(1);
  std::vector<LogReader*> readers;
  for (int i = 0; i < 2; ++i) readers.push_back(&reader(unique("group"), {one, two}));
  for (const int partition : {0, 1}) publish({one, key_in(partition, 2), "0"});
  publish({two, "key", "0"});
  for (LogReader* each : readers) {
    const size_t before = history_.seen().size();
    ASSERT_TRUE(read_until_seen({each}, before + 3));
    run(each->leave());
  }
  const std::vector<GroupView> all = run(view().groups());
  EXPECT_TRUE(std::ranges::is_sorted(
      all, {}, [](const GroupView& each) { return std::tie(each.group, each.topic, each.partition); }));
  EXPECT_GE(all.size(), 6U);
}

}  // namespace sluice::test
