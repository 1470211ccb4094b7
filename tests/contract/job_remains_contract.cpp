// Contract of every jobs::JobStore for jobs that were lost or are long gone, tested on a real engine.
#include "tests/contract/job_remains_suite.h"

namespace sluice::test {

TEST_P(JobRemainsContract, a_unique_key_stays_taken_when_the_record_of_its_job_is_gone) {
  const JobId succeeded = add(unique_job("key"));
  EXPECT_EQ(complete(claim_one()), Verdict::accepted);
  purge_all();
  EXPECT_FALSE(run(store_->find(succeeded)));
  const Enqueued again = enqueue(unique_job("key"));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.id, succeeded);
  EXPECT_TRUE(claim().empty());
}

TEST_P(JobRemainsContract, the_key_of_a_job_that_did_not_succeed_is_free_when_its_record_is_gone) {
  const JobId canceled = add(unique_job("canceled"));
  EXPECT_EQ(run(store_->cancel(canceled)), true);
  const JobId died = add(unique_job("dead"));
  EXPECT_TRUE(fail(claim_one(), true).dead);
  purge_all();
  EXPECT_FALSE(run(store_->find(canceled)) || run(store_->find(died)));
  EXPECT_FALSE(enqueue(unique_job("canceled")).duplicate);
  EXPECT_FALSE(enqueue(unique_job("dead")).duplicate);
  EXPECT_EQ(claim().size(), 2U);
}

TEST_P(JobRemainsContract, a_lost_job_stands_behind_those_that_waited) {
  use({.max_attempts = 9, .lock_ttl = 100ms});
  const JobId hangs = add();
  const JobId second = add();
  const JobId third = add();
  ASSERT_EQ(claim_and_lose().id, hangs);
  use({.max_attempts = 9});
  run(store_->tend());
  EXPECT_EQ(claimed_ids(), (Ids{second, third, hangs}));
}

TEST_P(JobRemainsContract, lost_jobs_wait_by_priority_like_all_others) {
  use({.max_attempts = 9, .lock_ttl = 100ms});
  const auto with_priority = [this](int32_t priority) {
    return NewJob{.kind = kind_, .payload = "{}", .priority = priority};
  };
  const JobId last = add(with_priority(3));
  const JobId first = add(with_priority(1));
  const JobId middle = add(with_priority(2));
  Time lost_at{};
  for (const ClaimedJob& claimed : claim()) lost_at = std::max(lost_at, claimed.lock_expires_at);
  const JobId urgent = add(with_priority(0));
  ASSERT_TRUE(eventually([&] { return clock_.wall() > lost_at + 5ms; }));
  use({.max_attempts = 9});
  run(store_->tend());
  EXPECT_EQ(claimed_ids(), (Ids{urgent, first, middle, last}));
}

}  // namespace sluice::test
