// Contract of every messaging::MessageLog for groups of readers, tested on a real engine.
#include "tests/contract/message_groups_suite.h"

namespace sluice::test {

TEST_P(MessageGroupsContract, every_message_arrives_once_and_each_key_in_order) {
  const std::string topic = new_topic();
  LogReader& reader = this->reader(unique("group"), {topic});
  for (int i = 0; i < 5; ++i) run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&reader}, 200));
  for (int i = 0; i < 5; ++i) run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&reader}, 400));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.seen().size(), 400U);
  EXPECT_TRUE(all_seen());
}

TEST_P(MessageGroupsContract, publishers_at_once_keep_the_order_of_their_keys) {
  const std::string topic = new_topic();
  std::vector<Task<>> tasks;
  for (int i = 0; i < 32; ++i) tasks.push_back(publish_ten(topic, fmt::format("key {}", i)));
  LogReader& reader = this->reader(unique("group"), {topic});
  ASSERT_TRUE(read_until({&reader}, [this] { return history_.seen().size() >= 320; }, std::move(tasks)));
  for (const auto& [key, run] : history_.unbroken_runs()) EXPECT_EQ(run, 10) << key;
}

TEST_P(MessageGroupsContract, each_group_gets_everything_also_what_was_there_before_it) {
  const std::string topic = new_topic(1);
  publish_numbers(topic, "key", 20);
  LogReader& first = reader(unique("group"), {topic});
  ASSERT_TRUE(read_until_seen({&first}, 20));
  first.fall_silent();  // two groups hold the same partition: the history is of one
  LogReader& second = reader(unique("group"), {topic});
  ASSERT_TRUE(read_until_seen({&second}, 40));
  std::vector<std::string> twice = numbers(0, 20);
  std::ranges::copy(numbers(0, 20), std::back_inserter(twice));
  EXPECT_EQ(history_.payloads(), twice);
}

TEST_P(MessageGroupsContract, a_group_may_read_several_topics) {
  const std::string one = new_topic(2);
  const std::string other = new_topic(3);
  const std::string unread = new_topic(1);
  LogReader& reader = this->reader(unique("group"), {one, other});
  for (const std::string& topic : {one, other, unread}) publish_numbers(topic, "key of " + topic, 10);
  ASSERT_TRUE(read_until_seen({&reader}, 20));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.unbroken_runs(), (std::map<std::string, int>{{"key of " + one, 10}, {"key of " + other, 10}}));
}

TEST_P(MessageGroupsContract, a_fetch_takes_no_more_than_asked_for_and_returns_nothing_at_its_deadline) {
  const std::string topic = new_topic(2);
  for (int i = 0; i < 2; ++i) publish_numbers(topic, key_in(i, 2), 25);
  LogReader& reader = this->reader(unique("group"), {topic}, {.most = 10});
  ASSERT_TRUE(read_until_seen({&reader}, 50));
  const Instant asked = clock_.now();
  EXPECT_TRUE(run(reader.read(300ms)).empty());
  EXPECT_GE(clock_.now() - asked, 290ms);
}

TEST_P(MessageGroupsContract, who_waits_is_woken_by_a_message) {
  const std::string topic = new_topic(1);
  LogReader& reader = this->reader(unique("group"), {topic});
  publish({topic, "key", "0"});
  ASSERT_TRUE(read_until_seen({&reader}, 1));
  const Instant asked = clock_.now();
  std::vector<Task<>> both;
  both.push_back(wait_for_a_minute(reader));
  both.push_back(publish_a_little_later({topic, "key", "1"}));
  run_all(std::move(both));
  EXPECT_EQ(history_.payloads(), numbers(0, 2));
  EXPECT_LT(clock_.now() - asked, 10s);
}

TEST_P(MessageGroupsContract, members_share_the_partitions_fairly_and_none_belongs_to_two) {
  const std::string topic = new_topic(4);
  const std::string group = unique("group");
  LogReader& one = reader(group, {topic});
  LogReader& two = reader_at(port().other_log(), group, {topic});
  const auto shared = [&] { return history_.held_by(one.number()) == 2 && history_.held_by(two.number()) == 2; };
  ASSERT_TRUE(read_until({&one, &two}, shared, publishing(topic, shared)));
  EXPECT_TRUE(read_until({&one, &two}, [this] { return all_seen(); }));
}

TEST_P(MessageGroupsContract, one_member_too_many_gets_nothing_until_somebody_leaves) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  LogReader& one = reader(group, {topic});
  run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&one}, 1));
  LogReader& two = reader_at(port().other_log(), group, {topic});
  const auto more = [this] { return history_.seen().size() >= 400; };
  ASSERT_TRUE(read_until({&one, &two}, more, publishing(topic, more)));
  EXPECT_EQ(history_.held_by(one.number()) + history_.held_by(two.number()), 1U);
  run(one.leave());
  const size_t before = history_.seen_by(two.number());
  const auto taken_over = [&] { return history_.seen_by(two.number()) > before; };
  ASSERT_TRUE(read_until({&two}, taken_over, publishing(topic, taken_over)));
  EXPECT_TRUE(read_until({&two}, [this] { return all_seen(); }));
}

TEST_P(MessageGroupsContract, members_that_join_and_leave_while_messages_flow_lose_and_reorder_nothing) {
  const std::string topic = new_topic(6);
  const std::string group = unique("group");
  LogReader& one = reader(group, {topic}, {.most = 17});
  const auto started = [this] { return history_.seen().size() >= 300; };
  ASSERT_TRUE(read_until({&one}, started, publishing(topic, started)));

  LogReader& two = reader_at(port().other_log(), group, {topic}, {.most = 17});
  const auto joined = [&] { return history_.held_by(two.number()) == 3 && history_.seen_by(two.number()) >= 200; };
  ASSERT_TRUE(read_until({&one, &two}, joined, publishing(topic, joined)));

  LogReader& three = reader(group, {topic}, {.most = 17});
  const auto all_have_some = [&] { return history_.held_by(three.number()) == 2; };
  ASSERT_TRUE(read_until({&one, &two, &three}, all_have_some, publishing(topic, all_have_some)));

  const auto taken_over = [&] { return history_.held_by(two.number()) == 3 && history_.held_by(three.number()) == 3; };
  std::vector<Task<>> besides = publishing(topic, taken_over);
  besides.push_back(one.leave());
  ASSERT_TRUE(read_until({&two, &three}, taken_over, std::move(besides)));
  EXPECT_TRUE(read_until({&two, &three}, [this] { return all_seen(); }));
}

TEST_P(MessageGroupsContract, the_next_owner_goes_on_where_the_last_one_committed) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  const std::vector<Position> positions = publish_numbers(topic, "key", 20);
  LogReader& first = reader(group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&first}, 20));
  run(first.commit(first.assignment(0), positions[11].offset + 1));
  run(first.commit(first.assignment(0), positions[4].offset + 1));  // back: ignored
  run(first.leave());
  LogReader& second = reader_at(port().other_log(), group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&second}, 28));
  read_what_else_there_is(second);
  EXPECT_EQ(history_.payloads(20), numbers(12, 20));
}

TEST_P(MessageGroupsContract, what_was_not_committed_comes_again) {
  const std::string topic = new_topic(3);
  const std::string group = unique("group");
  run(publish_round(topic));
  LogReader& first = reader(group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&first}, 40));
  run(first.leave());
  LogReader& second = reader(group, {topic});
  ASSERT_TRUE(read_until_seen({&second}, 80));
  run(second.leave());
  LogReader& third = reader(group, {topic});
  run(publish_round(topic));
  ASSERT_TRUE(read_until_seen({&third}, 120));
  read_what_else_there_is(third);
  EXPECT_EQ(history_.seen().size(), 120U);
  EXPECT_TRUE(all_seen());
}

TEST_P(MessageGroupsContract, a_silent_member_loses_its_partitions_and_its_late_commit_is_ignored) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  const std::vector<Position> positions = publish_numbers(topic, "key", 20);
  LogReader& silent = reader(group, {topic}, {.commits = false, .session = port().shortest_session()});
  ASSERT_TRUE(read_until_seen({&silent}, 20));
  const messaging::AssignmentRef ended = silent.assignment(0);
  silent.fall_silent();

  LogReader& next = reader_at(port().other_log(), group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&next}, 40));
  EXPECT_EQ(history_.payloads(20), numbers(0, 20));
  run(next.commit(next.assignment(0), positions[9].offset + 1));
  run(silent.commit(ended, positions[19].offset + 1));
  run(silent.leave());
  run(next.leave());

  LogReader& last = reader(group, {topic});
  ASSERT_TRUE(read_until_seen({&last}, 50));
  read_what_else_there_is(last);
  EXPECT_EQ(history_.payloads(40), numbers(10, 20));
}

TEST_P(MessageGroupsContract, a_member_that_comes_back_is_told_what_it_lost) {
  const std::string topic = new_topic(1);
  const std::string group = unique("group");
  publish_numbers(topic, "key", 5);
  LogReader& silent = reader(group, {topic}, {.commits = false, .session = port().shortest_session()});
  ASSERT_TRUE(read_until_seen({&silent}, 5));
  const messaging::AssignmentRef ended = silent.assignment(0);
  silent.fall_silent();
  LogReader& next = reader_at(port().other_log(), group, {topic}, {.commits = false});
  ASSERT_TRUE(read_until_seen({&next}, 10));

  bool told = false;
  std::vector<Task<>> besides;
  besides.push_back(read_until_lost(silent, ended, told));
  EXPECT_TRUE(read_until({&next}, [&told] { return told; }, std::move(besides)));
}

TEST_P(MessageGroupsContract, a_paused_assignment_brings_nothing_until_it_is_resumed) {
  const std::string topic = new_topic(2);
  const std::string paused_key = key_in(0, 2);
  const std::string other_key = key_in(1, 2);
  LogReader& reader = this->reader(unique("group"), {topic}, {.most = 5});
  publish_numbers(topic, paused_key, 20);
  ASSERT_TRUE(read_until_seen({&reader}, 5));
  const messaging::AssignmentRef paused = reader.assignment(0);
  reader.subscription().pause(paused);
  const size_t before = history_.seen().size();
  publish_numbers(topic, other_key, 20);
  ASSERT_TRUE(read_until_seen({&reader}, before + 20));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.unbroken_runs(),
            (std::map<std::string, int>{{paused_key, static_cast<int>(before)}, {other_key, 20}}));

  reader.subscription().resume(paused);
  ASSERT_TRUE(read_until_seen({&reader}, 40));
  read_what_else_there_is(reader);
  EXPECT_EQ(history_.seen().size(), 40U) << "each came once";
  EXPECT_EQ(history_.unbroken_runs(), (std::map<std::string, int>{{paused_key, 20}, {other_key, 20}}));
  EXPECT_EQ(reader.assignment(0), paused) << "it stayed the member's";
}

TEST_P(MessageGroupsContract, a_waiting_fetch_notices_at_once_that_an_assignment_is_resumed) {
  const std::string topic = new_topic(1);
  LogReader& reader = this->reader(unique("group"), {topic}, {.most = 5});
  publish_numbers(topic, "key", 50);
  ASSERT_TRUE(read_until_seen({&reader}, 5));
  const messaging::AssignmentRef paused = reader.assignment(0);
  Duration soonest = Duration::max();
  // Again where it took long: this machine may have stood still, which makes no answer come sooner.
  for (int attempt = 0; attempt < 5 && soonest >= port().notices_within(); ++attempt) {
    reader.subscription().pause(paused);
    const size_t before = history_.seen().size();
    Instant resumed{};
    Instant ended{};
    std::vector<Task<>> both;
    both.push_back(read_one_fetch(reader, 20s, ended));
    both.push_back(resume_a_little_later(reader, paused, resumed));
    for (const auto& outcome : run_all(std::move(both))) ASSERT_FALSE(outcome.error);
    EXPECT_GT(history_.seen().size(), before);
    EXPECT_GT(ended, resumed) << "paused, it brought nothing";
    soonest = std::min(soonest, std::chrono::ceil<Duration>(ended - resumed));
  }
  EXPECT_LT(soonest, port().notices_within());
}

}  // namespace sluice::test
