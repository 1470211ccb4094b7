#include "messaging/outbox_pieces.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

OutboxRow row(int64_t id, const std::string& aggregate, const std::string& topic, size_t bytes = 1) {
  return {{id, {}}, aggregate, Message{topic, "", std::string(bytes, 'x')}};
}

// "1,2 3": the ids of each piece.
std::string ids(const std::vector<std::vector<OutboxRow>>& pieces) {
  std::vector<std::string> told;
  for (const auto& piece : pieces) {
    std::vector<int64_t> numbers;
    for (const OutboxRow& one : piece) numbers.push_back(one.mark.id);
    told.push_back(fmt::format("{}", fmt::join(numbers, ",")));
  }
  return fmt::format("{}", fmt::join(told, " "));
}

TEST(OutboxPieces, are_bounded_by_bytes_and_never_empty) {
  EXPECT_EQ(ids(in_pieces({}, 100)), "");
  EXPECT_EQ(ids(in_pieces({row(1, "a", "t", 60), row(2, "a", "t", 40), row(3, "b", "t", 1), row(4, "c", "t", 500),
                           row(5, "c", "t", 100)},
                          100)),
            "1,2 3 4 5");
}

TEST(OutboxPieces, an_aggregate_that_changes_its_topic_goes_on_in_a_later_piece) {
  EXPECT_EQ(ids(in_pieces({row(1, "a", "t"), row(2, "b", "u"), row(3, "a", "t"), row(4, "a", "u"), row(5, "b", "u"),
                           row(6, "a", "t"), row(7, "b", "t")},
                          100)),
            "1,2,3,5 4,7 6");
}

TEST(OutboxPieces, an_unreadable_row_stands_apart_from_its_aggregates_others) {
  std::vector<OutboxRow> rows{row(1, "a", "t"), row(2, "a", "t"), row(3, "a", "t"), row(4, "a", "t"), row(5, "b", "t")};
  rows[1].unreadable = rows[2].unreadable = "why";
  EXPECT_EQ(ids(in_pieces(rows, 100)), "1,5 2 3 4");
}

}  // namespace
}  // namespace sluice::messaging
