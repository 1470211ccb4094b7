#include "adapters/sqlite/log_shares.h"

#include <gtest/gtest.h>

namespace sluice::sqlite {
namespace {

LogShares nobodys(const std::map<std::string, int32_t>& topics) {
  LogShares shares;
  for (const auto& [topic, partitions] : topics) {
    for (int32_t i = 0; i < partitions; ++i) shares[{topic, i}] = 0;
  }
  return shares;
}

std::map<LogMemberNumber, int> loads(const LogShares& shares, const std::string& topic = "") {
  std::map<LogMemberNumber, int> loads;
  for (const auto& [partition, member] : shares) {
    if (topic.empty() || partition.first == topic) ++loads[member];
  }
  return loads;
}

int moved(const LogShares& before, const LogShares& after) {
  int count = 0;
  for (const auto& [partition, member] : before) count += after.at(partition) != member;
  return count;
}

using Loads = std::map<LogMemberNumber, int>;

TEST(LogShares, one_member_has_everything) {
  EXPECT_EQ(loads(fair_shares({{1, {"a", "b"}}}, nobodys({{"a", 4}, {"b", 3}}))), (Loads{{1, 7}}));
}

TEST(LogShares, every_topic_is_shared_and_so_is_the_whole) {
  const LogReaders readers{{1, {"a", "b", "c"}}, {2, {"a", "b", "c"}}};
  const LogShares shares = fair_shares(readers, nobodys({{"a", 4}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(loads(shares, "a"), (Loads{{1, 2}, {2, 2}}));
  EXPECT_EQ(loads(shares), (Loads{{1, 3}, {2, 3}}));
}

TEST(LogShares, who_comes_gets_a_share_and_no_more_moves_than_that) {
  const LogShares before = fair_shares({{1, {"a"}}, {2, {"a"}}}, nobodys({{"a", 12}}));
  const LogShares after = fair_shares({{1, {"a"}}, {2, {"a"}}, {3, {"a"}}}, before);
  EXPECT_EQ(loads(after), (Loads{{1, 4}, {2, 4}, {3, 4}}));
  EXPECT_EQ(moved(before, after), 4);
  EXPECT_EQ(fair_shares({{1, {"a"}}, {2, {"a"}}, {3, {"a"}}}, after), after);
}

TEST(LogShares, what_a_member_that_is_gone_had_goes_to_the_others) {
  const LogShares before = fair_shares({{1, {"a"}}, {2, {"a"}}, {3, {"a"}}}, nobodys({{"a", 12}}));
  const LogShares after = fair_shares({{1, {"a"}}, {3, {"a"}}}, before);
  EXPECT_EQ(loads(after), (Loads{{1, 6}, {3, 6}}));
  EXPECT_EQ(moved(before, after), 4);
}

TEST(LogShares, only_who_reads_a_topic_gets_of_it) {
  const LogReaders readers{{1, {"a", "b"}}, {2, {"b"}}};
  const LogShares shares = fair_shares(readers, nobodys({{"a", 2}, {"b", 4}, {"nobody's", 1}}));
  EXPECT_EQ(loads(shares, "a"), (Loads{{1, 2}}));
  EXPECT_EQ(loads(shares, "b"), (Loads{{1, 2}, {2, 2}}));
  EXPECT_EQ(loads(shares, "nobody's"), (Loads{{0, 1}}));
}

TEST(LogShares, the_odd_ones_of_many_small_topics_are_spread) {
  LogReaders readers;
  std::map<std::string, int32_t> topics;
  for (int i = 0; i < 9; ++i) topics["topic " + std::to_string(i)] = 1;
  for (int member = 1; member <= 3; ++member) {
    for (const auto& [topic, partitions] : topics) readers[member].insert(topic);
  }
  LogShares all_with_one = nobodys(topics);
  for (auto& [partition, member] : all_with_one) member = 1;
  EXPECT_EQ(loads(fair_shares(readers, all_with_one)), (Loads{{1, 3}, {2, 3}, {3, 3}}));
}

}  // namespace
}  // namespace sluice::sqlite
