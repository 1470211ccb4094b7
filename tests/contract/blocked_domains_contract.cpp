// Contract of every links::BlockedDomains, tested on a real engine.
#include "tests/contract/blocked_domains_suite.h"

namespace sluice::test {

TEST_P(BlockedDomainsContract, count_failures_by_domain_and_reason) {
  for (int64_t times = 1; times <= BlockedDomains::whims; ++times) {
    EXPECT_EQ(run(port().domains().blame(domain_, FailureReason::forbidden)), times);
  }
  EXPECT_EQ(run(port().domains().blame(domain_, FailureReason::robots)), 1);
  EXPECT_EQ(run(port().domains().blame("other." + domain_, FailureReason::forbidden)), 1);
  const auto found = candidate(domain_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, BlockedDomains::whims + 1);
  EXPECT_EQ(found->reasons, (std::map<FailureReason, int64_t>{{FailureReason::robots, 1},
                                                              {FailureReason::forbidden, BlockedDomains::whims}}));
  EXPECT_LE(found->first_at, found->last_at);
}

TEST_P(BlockedDomainsContract, are_candidates_only_when_they_are_believed) {
  run(port().domains().blame(domain_, FailureReason::forbidden));
  run(port().domains().blame(domain_, FailureReason::forbidden));
  EXPECT_FALSE(candidate(domain_));
  run(port().domains().blame(domain_, FailureReason::captcha));
  EXPECT_EQ(candidate(domain_).value().reasons, (std::map<FailureReason, int64_t>{{FailureReason::captcha, 1}}));
}

TEST_P(BlockedDomainsContract, are_forgiven_their_whims_after_a_day_and_nothing_else) {
  for (const FailureReason reason : {FailureReason::forbidden, FailureReason::robots}) {
    run(port().domains().blame(domain_, reason));
    run(port().domains().blame(domain_, reason));
  }
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  run(port().set_last(domain_, now - BlockedDomains::forgotten_after - 1min));
  EXPECT_EQ(run(port().domains().blame(domain_, FailureReason::forbidden)), 1);
  EXPECT_EQ(run(port().domains().blame(domain_, FailureReason::robots)), 3);
}

TEST_P(BlockedDomainsContract, are_listed_with_the_most_blamed_first) {
  const auto before = run(port().domains().candidates(1));
  const int64_t most = before.empty() ? 0 : before[0].count;
  for (int64_t i = 0; i <= most; ++i) run(port().domains().blame(domain_, FailureReason::captcha));
  EXPECT_EQ(run(port().domains().candidates(1)).at(0).domain, domain_);
}

}  // namespace sluice::test
