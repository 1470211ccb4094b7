// Contract of every coordination::FencedLeases, tested on a real engine.
#include "tests/contract/fenced_leases_suite.h"

namespace sluice::test {

TEST_P(FencedLeasesContract, of_many_callers_one_acquires) {
  EXPECT_EQ(race(key_, 40), std::vector<Fence>{1});
  EXPECT_TRUE(race(key_, 40).empty());
}

TEST_P(FencedLeasesContract, a_held_lease_is_refused_also_to_its_owner) {
  EXPECT_TRUE(acquire(key_, "me"));
  EXPECT_FALSE(acquire(key_, "me"));
  EXPECT_FALSE(acquire(key_, "somebody else"));
}

TEST_P(FencedLeasesContract, the_fence_grows_with_every_holder) {
  for (Fence expected = 1; expected <= 5; ++expected) {
    EXPECT_EQ(acquire(key_, "me"), expected);
    release(key_, expected);
  }
}

TEST_P(FencedLeasesContract, an_expired_lease_is_taken_over_by_exactly_one) {
  const auto asked = std::chrono::steady_clock::now();
  ASSERT_EQ(acquire(key_, "crashed", 150ms), 1);
  std::vector<Fence> got;
  ASSERT_TRUE(eventually([&] {
    got = race(key_, 20);
    return !got.empty();
  }));
  EXPECT_EQ(got, std::vector<Fence>{2});
  EXPECT_GE(std::chrono::steady_clock::now() - asked, 149ms);
}

TEST_P(FencedLeasesContract, renewing_many_tells_which_are_lost) {
  const std::string expired = unique("lease");
  const std::string released = unique("lease");
  const std::string foreign = unique("lease");
  const Fence kept = acquire(key_, "me").value();
  const Fence too_short = acquire(expired, "me", 50ms).value();
  const Fence given_up = acquire(released, "me").value();
  release(released, given_up);
  const Fence old = acquire(foreign, "me").value();
  release(foreign, old);
  acquire(foreign, "somebody else");
  ASSERT_TRUE(eventually([&] { return owner_of(expired).empty(); }));
  const std::vector<FencedLease> asked{{released, given_up}, {key_, kept}, {foreign, old}, {expired, too_short}};
  const std::vector<FencedLease> renewed = run(port().renew(asked, 1min));
  ASSERT_EQ(renewed.size(), 1U);
  EXPECT_EQ(renewed[0].key, key_);
  EXPECT_EQ(renewed[0].fence, kept);
  EXPECT_EQ(owner_of(foreign), "somebody else");
  EXPECT_EQ(owner_of(expired), "");
}

TEST_P(FencedLeasesContract, a_renewed_lease_outlives_its_ttl) {
  const std::string reference = unique("lease");
  // Again where this machine stood still for longer than that.
  ASSERT_TRUE(eventually([&] {
    const Fence fence = acquire(key_, "me", 1s).value();
    return run(port().renew({{key_, fence}}, 1min)).size() == 1;
  }));
  acquire(reference, "me", 1s);
  ASSERT_TRUE(eventually([&] { return owner_of(reference).empty(); }));
  EXPECT_EQ(owner_of(key_), "me");
}

TEST_P(FencedLeasesContract, instances_that_renew_the_same_leases_never_block_each_other) {
  std::vector<FencedLease> held;
  for (int i = 0; i < 20; ++i) {
    const std::string key = unique("lease");
    held.push_back({key, acquire(key, "me").value()});
  }
  std::vector<FencedLease> backwards(held.rbegin(), held.rend());
  std::vector<Task<std::vector<FencedLease>>> renewals;
  for (int i = 0; i < 10; ++i) {
    renewals.push_back(port().renew(held, 1min));
    renewals.push_back(port().renew(backwards, 1min));
  }
  for (const auto& renewed : values_of(std::move(renewals))) EXPECT_EQ(renewed.size(), held.size());
}

TEST_P(FencedLeasesContract, releasing_with_an_old_fence_changes_nothing) {
  const Fence old = acquire(key_, "me").value();
  release(key_, old);
  EXPECT_EQ(owner_of(key_), "");
  acquire(key_, "somebody else");
  release(key_, old);
  EXPECT_EQ(owner_of(key_), "somebody else");
}

TEST_P(FencedLeasesContract, who_holds_it_is_visible) {
  EXPECT_FALSE(run(port().holder(key_)));
  acquire(key_, "first", 1min);
  release(key_, 1);
  acquire(key_, "second", 1min);
  const auto before = run(port().holder(key_));
  ASSERT_TRUE(before);
  EXPECT_EQ(before->owner, "second");
  EXPECT_EQ(before->fence, 2);
  run(port().renew({{key_, 2}}, 1h));
  EXPECT_GT(run(port().holder(key_))->until, before->until + 50min);
}

}  // namespace sluice::test
