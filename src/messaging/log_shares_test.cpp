#include "messaging/log_shares.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

std::vector<LogMember> members(int count, const std::set<std::string>& topics) {
  std::vector<LogMember> all;
  for (int i = 0; i < count; ++i) all.push_back({fmt::format("member-{}", i), topics});
  return all;
}

// How many partitions each has.
std::map<std::string, int> sizes(const std::map<LogPartition, std::string>& shares) {
  std::map<std::string, int> count;
  for (const auto& [partition, member] : shares) ++count[member];
  return count;
}

int unfairness(const std::map<LogPartition, std::string>& shares, size_t readers) {
  const auto count = sizes(shares);
  const auto [least, most] = std::ranges::minmax(count | std::views::values);
  return most - (count.size() < readers ? 0 : least);
}

const std::map<std::string, int32_t> five_topics = {{"a", 12}, {"b", 12}, {"c", 12}, {"d", 1}, {"e", 7}};
const std::set<std::string> all_five = {"a", "b", "c", "d", "e"};

TEST(LogShares, every_partition_has_one_reader) {
  const auto shares = shares_of(members(5, all_five), five_topics);
  EXPECT_EQ(shares.size(), 44U);
}

TEST(LogShares, nobody_has_more_than_one_partition_more_than_another) {
  for (int count = 1; count < 30; ++count) {
    const auto shares = shares_of(members(count, all_five), five_topics);
    EXPECT_LE(unfairness(shares, static_cast<size_t>(count)), 1) << count << " members";
    for (const auto& [topic, partitions] : five_topics) {
      const auto one = shares_of(members(count, all_five), {{topic, partitions}});
      EXPECT_LE(unfairness(one, static_cast<size_t>(count)), 1) << count << " members of " << topic;
    }
  }
}

TEST(LogShares, the_order_in_which_members_are_named_does_not_matter) {
  auto named = members(7, all_five);
  const auto before = shares_of(named, five_topics);
  std::ranges::reverse(named);
  EXPECT_EQ(shares_of(named, five_topics), before);
}

TEST(LogShares, a_topic_goes_to_those_who_read_it) {
  const auto shares = shares_of({{"both", {"a", "b"}}, {"only b", {"b"}}}, {{"a", 4}, {"b", 4}, {"c", 4}});
  EXPECT_EQ(shares.size(), 8U) << "c has no reader";
  for (const auto& [partition, member] : shares) {
    if (partition.topic == "a") EXPECT_EQ(member, "both");
  }
  EXPECT_GT(sizes(shares)["only b"], 0);
}

TEST(LogShares, little_moves_when_somebody_comes) {
  const std::map<std::string, int32_t> topics = {{"a", 60}, {"b", 60}};
  for (int count = 2; count < 12; ++count) {
    const auto before = shares_of(members(count, {"a", "b"}), topics);
    const auto after = shares_of(members(count + 1, {"a", "b"}), topics);
    const auto moved =
        std::ranges::count_if(before, [&](const auto& share) { return after.at(share.first) != share.second; });
    const auto needed = 120 / (count + 1);
    EXPECT_LE(moved, 2 * needed + 6) << "from " << count << " members to one more";
  }
}

}  // namespace
}  // namespace sluice::messaging
