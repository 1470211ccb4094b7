#include "messaging/finished_prefix.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

TEST(FinishedPrefix, ends_before_the_first_message_that_is_not_finished) {
  FinishedPrefix prefix;
  EXPECT_EQ(prefix.next(), std::nullopt);
  const auto a = prefix.add(10);
  const auto b = prefix.add(12);  // 11 never was
  const auto c = prefix.add(20);
  prefix.finish(c);
  EXPECT_EQ(prefix.next(), std::nullopt);
  prefix.finish(a);
  EXPECT_EQ(prefix.next(), 11);
  EXPECT_EQ(prefix.unfinished(), 1U);
  EXPECT_EQ(prefix.span(), 2U);
  prefix.finish(b);
  EXPECT_EQ(prefix.next(), 21);
  EXPECT_EQ(prefix.span(), 0U);
}

TEST(FinishedPrefix, is_what_a_look_at_all_messages_says_in_every_order) {
  std::mt19937 chance(7);
  struct Told {
    int64_t offset;
    FinishedPrefix::Ticket ticket;
    bool finished = false;
  };
  FinishedPrefix prefix;
  std::vector<Told> told;
  std::vector<size_t> open;
  for (int step = 0; step < 5000; ++step) {
    if (open.empty() || chance() % 2 == 0) {
      const int64_t offset = (told.empty() ? 0 : told.back().offset) + 1 + static_cast<int64_t>(chance() % 5);
      told.push_back({offset, prefix.add(offset)});
      open.push_back(told.size() - 1);
    } else {
      std::swap(open[chance() % open.size()], open.back());
      told[open.back()].finished = true;
      prefix.finish(told[open.back()].ticket);
      open.pop_back();
    }
    const auto first = std::ranges::find(told, false, &Told::finished);
    const std::optional<int64_t> next =
        first == told.begin() ? std::nullopt : std::optional(std::prev(first)->offset + 1);
    ASSERT_EQ(prefix.next(), next);
    ASSERT_EQ(prefix.unfinished(), open.size());
  }
}

}  // namespace
}  // namespace sluice::messaging
