#include "jobs/outside_try.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

TEST(OutsideTry, what_a_token_says_comes_back) {
  const OutsideTry throttled{
      .token = 7, .kind = "mail.\"x\" 한", .throttle_key = "a.example", .claimed_at = Time{1'800'000'000s}};
  EXPECT_EQ(parse_outside_try(to_text(throttled)), throttled);
  const OutsideTry free{.token = 1, .kind = "mail", .claimed_at = Time{1us}};
  EXPECT_EQ(parse_outside_try(to_text(free)), free);
}

TEST(OutsideTry, the_number_alone_is_a_token) {
  EXPECT_EQ(parse_outside_try("42"), (OutsideTry{.token = 42}));
}

TEST(OutsideTry, other_texts_are_no_tokens) {
  for (const char* bad :
       {"", "x", "1.", "1.2", "1.x.bWFpbA", "1.2.=", "1.2.bWFpbA.=", "1.2.bWFpbA.bWFpbA.x", " 1", "1 "}) {
    EXPECT_FALSE(parse_outside_try(bad)) << bad;
  }
}

}  // namespace
}  // namespace sluice::jobs
