#include "messaging/open_letters.h"

#include <gtest/gtest.h>

namespace sluice::messaging {
namespace {

class OpenLettersTest : public testing::Test {
 protected:
  // The partition's next message is a letter about message number `original`.
  int64_t add_letter(OpenLetters& open_letters, int64_t original) {
    const Assignment orders{"orders", 0};
    const Delivery failed{.assignment = std::make_shared<const Assignment>(orders), .offset = original, .key = "key"};
    return add(open_letters, write_letter("letters", "shop", failed, {"BROKEN", "it broke", 3, {}, "worker-1"}));
  }
  int64_t add_mark(OpenLetters& open_letters, int64_t letter) {
    const OpenLetters::Open& open = open_letters.open().at(letter);
    return add(open_letters, write_mark(open.letter, open.last, Settled::purged, {}));
  }

 private:
  int64_t add(OpenLetters& open_letters, const Message& message) {
    Delivery delivery{.assignment = letters_, .offset = next_, .key = message.key, .payload = message.payload};
    for (const auto& [name, value] : message.headers) delivery.headers.emplace_back(name, value);
    open_letters.add(delivery);
    return next_++;
  }

  const std::shared_ptr<const Assignment> letters_ = std::make_shared<const Assignment>(Assignment{"letters", 0});
  int64_t next_ = 10;
};

TEST_F(OpenLettersTest, what_was_never_seen_is_not_settled) {
  EXPECT_EQ(OpenLetters("letters", 0).settled_before(), 0);
}

TEST_F(OpenLettersTest, is_settled_up_to_the_first_open_letter) {
  OpenLetters open_letters("letters", 0);
  const int64_t first = add_letter(open_letters, 1);
  const int64_t second = add_letter(open_letters, 2);
  EXPECT_EQ(open_letters.settled_before(), first);
  const int64_t mark = add_mark(open_letters, first);
  EXPECT_EQ(open_letters.settled_before(), second);
  open_letters.settle(second);
  EXPECT_EQ(open_letters.settled_before(), mark + 1);
}

TEST_F(OpenLettersTest, letters_that_were_left_out_are_not_settled_by_those_behind_them) {
  OpenLetters open_letters("letters", 0, 2);
  const int64_t first = add_letter(open_letters, 1);
  const int64_t second = add_letter(open_letters, 2);
  const int64_t left_out = add_letter(open_letters, 3);
  add_mark(open_letters, first);
  const int64_t fourth = add_letter(open_letters, 4);
  open_letters.settle(second);
  ASSERT_TRUE(open_letters.open().contains(fourth));
  EXPECT_EQ(open_letters.settled_before(), left_out);
}

}  // namespace
}  // namespace sluice::messaging
