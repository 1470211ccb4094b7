#include "messaging/letter_fold.h"

#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

class LetterFoldTest : public testing::Test {
 protected:
  // The partition's next message is a letter about message number `original`.
  int64_t add_letter(LetterFold& fold, int64_t original) {
    const Assignment orders{"orders", 0};
    const Delivery failed{.assignment = std::make_shared<const Assignment>(orders), .offset = original, .key = "key"};
    return add(fold, write_letter("letters", "shop", failed, {"BROKEN", "it broke", 3, {}, "worker-1"}));
  }
  int64_t add_mark(LetterFold& fold, int64_t letter) {
    const LetterFold::Open& open = fold.open().at(letter);
    return add(fold, write_mark(open.letter, open.last, Settled::purged, {}));
  }

 private:
  int64_t add(LetterFold& fold, const Message& message) {
    Delivery delivery{.assignment = letters_, .offset = next_, .key = message.key, .payload = message.payload};
    for (const auto& [name, value] : message.headers) delivery.headers.emplace_back(name, value);
    fold.add(delivery);
    return next_++;
  }

  const std::shared_ptr<const Assignment> letters_ = std::make_shared<const Assignment>(Assignment{"letters", 0});
  int64_t next_ = 10;
};

TEST_F(LetterFoldTest, what_was_never_seen_is_not_settled) {
  EXPECT_EQ(LetterFold("letters", 0).settled_before(), 0);
}

TEST_F(LetterFoldTest, is_settled_up_to_the_first_open_letter) {
  LetterFold fold("letters", 0);
  const int64_t first = add_letter(fold, 1);
  const int64_t second = add_letter(fold, 2);
  EXPECT_EQ(fold.settled_before(), first);
  const int64_t mark = add_mark(fold, first);
  EXPECT_EQ(fold.settled_before(), second);
  fold.settle(second);
  EXPECT_EQ(fold.settled_before(), mark + 1);
}

TEST_F(LetterFoldTest, letters_that_were_left_out_are_not_settled_by_those_behind_them) {
  LetterFold fold("letters", 0, 2);
  const int64_t first = add_letter(fold, 1);
  const int64_t second = add_letter(fold, 2);
  const int64_t left_out = add_letter(fold, 3);
  add_mark(fold, first);
  const int64_t fourth = add_letter(fold, 4);
  fold.settle(second);
  ASSERT_TRUE(fold.open().contains(fourth));
  EXPECT_EQ(fold.settled_before(), left_out);
}

}  // namespace
}  // namespace sluice::messaging
