// Contract of every coordination::Leases, tested on a real engine.
#include "tests/contract/leases_suite.h"

namespace sluice::test {

TEST_P(LeasesContract, of_many_callers_one_acquires) {
  EXPECT_EQ(race(key_, 40).size(), 1U);
  EXPECT_TRUE(race(key_, 40).empty());
}

TEST_P(LeasesContract, a_held_lease_is_refused_also_to_its_owner) {
  EXPECT_TRUE(acquire(key_, "me"));
  EXPECT_FALSE(acquire(key_, "me"));
  EXPECT_FALSE(acquire(key_, "somebody else"));
}

TEST_P(LeasesContract, keys_do_not_share_a_lease) {
  EXPECT_TRUE(acquire(key_, "me"));
  EXPECT_TRUE(acquire(unique("lease"), "me"));
}

TEST_P(LeasesContract, every_holder_has_a_higher_token) {
  Token last = 0;
  for (int i = 0; i < 5; ++i) {
    const Token token = acquire(key_, "me").value();
    EXPECT_GT(token, last);
    last = token;
    release(key_, token);
  }
}

TEST_P(LeasesContract, an_expired_lease_is_taken_over_by_exactly_one) {
  const auto asked = std::chrono::steady_clock::now();
  const Token crashed = acquire(key_, "crashed", 150ms).value();
  std::vector<Token> got;
  ASSERT_TRUE(eventually([&] {
    got = race(key_, 20);
    return !got.empty();
  }));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_GT(got[0], crashed);
  EXPECT_GE(std::chrono::steady_clock::now() - asked, 149ms);
}

TEST_P(LeasesContract, renewing_many_tells_which_are_lost) {
  const std::string expired = unique("lease");
  const std::string released = unique("lease");
  const std::string foreign = unique("lease");
  const Token kept = acquire(key_, "me").value();
  const Token too_short = acquire(expired, "me", 50ms).value();
  const Token given_up = acquire(released, "me").value();
  release(released, given_up);
  const Token old = acquire(foreign, "me").value();
  release(foreign, old);
  acquire(foreign, "somebody else");
  ASSERT_TRUE(eventually([&] { return owner_of(expired).empty(); }));
  const std::vector<Lease> asked{{released, given_up}, {key_, kept}, {foreign, old}, {expired, too_short}};
  EXPECT_EQ(renew(asked), (std::vector<Lease>{{key_, kept}}));
  EXPECT_EQ(owner_of(foreign), "somebody else");
  EXPECT_EQ(owner_of(expired), "");
}

TEST_P(LeasesContract, a_thousand_are_renewed_in_one_call) {
  std::vector<Task<std::optional<Token>>> asking;
  std::vector<Lease> held;
  for (int i = 0; i < 1'000; ++i) {
    held.push_back({unique("lease"), 0});
    asking.push_back(port().acquire(held.back().key, "me", 1min));
  }
  const auto tokens = values_of(std::move(asking));
  for (size_t i = 0; i < held.size(); ++i) held[i].token = tokens[i].value();
  std::vector<Lease> renewed = renew(held);
  std::ranges::sort(renewed);
  std::ranges::sort(held);
  EXPECT_EQ(renewed, held);
}

TEST_P(LeasesContract, renewing_nothing_is_harmless) {
  EXPECT_TRUE(renew({}).empty());
}

TEST_P(LeasesContract, a_renewed_lease_outlives_its_ttl) {
  const std::string reference = unique("lease");
  // Again where this machine stood still for longer than that.
  ASSERT_TRUE(eventually([&] {
    const Token token = acquire(key_, "me", 1s).value();
    return renew({{key_, token}}).size() == 1;
  }));
  acquire(reference, "me", 1s);
  ASSERT_TRUE(eventually([&] { return owner_of(reference).empty(); }));
  EXPECT_EQ(owner_of(key_), "me");
}

TEST_P(LeasesContract, releasing_with_an_old_token_changes_nothing) {
  const Token old = acquire(key_, "me").value();
  release(key_, old);
  EXPECT_EQ(owner_of(key_), "");
  acquire(key_, "somebody else");
  release(key_, old);
  EXPECT_EQ(owner_of(key_), "somebody else");
}

TEST_P(LeasesContract, who_holds_it_is_visible) {
  EXPECT_FALSE(run(port().holder(key_)));
  const Token token = acquire(key_, "owner: with {odd} signs", 1min).value();
  const auto before = run(port().holder(key_));
  ASSERT_TRUE(before);
  EXPECT_EQ(before->owner, "owner: with {odd} signs");
  EXPECT_EQ(before->token, token);
  renew({{key_, token}}, 1h);
  EXPECT_GT(run(port().holder(key_))->until, before->until + 50min);
}

TEST_P(LeasesContract, a_lease_released_by_force_is_free_and_its_holder_learns_of_it) {
  const Token token = acquire(key_, "stuck").value();
  const auto lost = run(port().force_release(key_, "operator"));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->owner, "stuck");
  EXPECT_TRUE(renew({{key_, token}}).empty());
  EXPECT_GT(acquire(key_, "next").value(), token);
  EXPECT_FALSE(run(port().force_release(unique("lease"), "operator")));
}

}  // namespace sluice::test
