#include "jobs/error_text.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace sluice::jobs {
namespace {

TEST(ErrorText, what_is_fine_stays) {
  EXPECT_EQ(keepable_error("연결 끊김"), "연결 끊김");
  EXPECT_EQ(keepable_error(std::string(longest_error, 'x')), std::string(longest_error, 'x'));
}

TEST(ErrorText, a_long_one_is_cut_between_two_characters) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'x');
    while (text.size() < 2 * longest_error) text += "\xed\x95\x9c";
    const std::string kept = keepable_error(text);
    EXPECT_LE(kept.size(), longest_error);
    EXPECT_GT(kept.size(), longest_error - 8);
    EXPECT_TRUE(is_utf8(kept));
    EXPECT_TRUE(kept.ends_with("\xed\x95\x9c..."));
  }
}

TEST(ErrorText, what_no_database_takes_is_replaced) {
  EXPECT_EQ(keepable_error(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(keepable_error("caf\xe9 au lait"), "caf? au lait");
  EXPECT_TRUE(is_utf8(keepable_error(std::string(2 * longest_error, '\x80'))));
}

}  // namespace
}  // namespace sluice::jobs
