#include "jobs/outside_tries.h"

#include <gtest/gtest.h>

namespace sluice::jobs {
namespace {

ClaimedJob job(int64_t token) {
  return {.id = {}, .kind = "mail", .payload = "{}", .token = token, .throttle_key = "a.example"};
}

TEST(OutsideTries, a_try_is_known_until_it_has_ended) {
  OutsideTries tries;
  tries.began({job(1), job(2)}, Instant{10s});
  const auto ended = tries.ended({{}, 2}, Instant{13s});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->kind, "mail");
  EXPECT_EQ(ended->throttle_key, "a.example");
  EXPECT_EQ(ended->took, 3s);
  EXPECT_FALSE(tries.ended({{}, 2}, Instant{13s}));
  EXPECT_FALSE(tries.ended({{}, 3}, Instant{13s}));
  EXPECT_TRUE(tries.ended({{}, 1}, Instant{13s}));
}

TEST(OutsideTries, the_oldest_are_forgotten) {
  OutsideTries tries;
  for (size_t i = 0; i <= OutsideTries::most; ++i) tries.began({job(static_cast<int64_t>(i))}, Instant{});
  EXPECT_FALSE(tries.ended({{}, 0}, Instant{}));
  EXPECT_TRUE(tries.ended({{}, 1}, Instant{}));
}

}  // namespace
}  // namespace sluice::jobs
