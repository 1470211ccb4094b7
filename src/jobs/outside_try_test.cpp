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

TEST(OutsideTry, a_time_that_cannot_be_is_no_token) {
  for (const char* time : {"-9223372036854775808", "-1", "253402300800000000", "9223372036854775807"}) {
    EXPECT_FALSE(parse_outside_try(std::string("1.") + time + ".bWFpbA")) << time;
  }
  EXPECT_TRUE(parse_outside_try("1.253402300799999999.bWFpbA"));
}

TEST(OutsideTry, a_kind_or_throttle_key_longer_than_a_job_may_have_is_no_token) {
  const auto text_of = [](size_t kind, size_t throttle_key) {
    return to_text({.token = 1, .kind = std::string(kind, 'k'), .throttle_key = std::string(throttle_key, 't')});
  };
  EXPECT_TRUE(parse_outside_try(text_of(400, 1'020)));  // characters have up to 4 bytes
  EXPECT_FALSE(parse_outside_try(text_of(401, 1)));
  EXPECT_FALSE(parse_outside_try(text_of(1, 1'021)));
}

}  // namespace
}  // namespace sluice::jobs
