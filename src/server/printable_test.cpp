#include "server/printable.h"

#include <gtest/gtest.h>

namespace sluice::server {
namespace {

TEST(Printable, plain_text_stays_as_it_is) {
  EXPECT_EQ(printable("mail to kim@example.org, 대기열 \\ é €"), "mail to kim@example.org, 대기열 \\ é €");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, what_would_move_the_cursor_or_forge_lines_is_escaped) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\rd\x7f"), "a\\u001b[2Jb\\nc\\u000dd\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\xe2\x80\xa8|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x82\xac"), "\\u2028|\\u202e|\\u2066|\xe2\x82\xac");
  EXPECT_EQ(printable("\xe2\x80"), "\xe2\x80") << "cut off";
}

}  // namespace
}  // namespace sluice::server
