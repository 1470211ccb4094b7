// Contract of every jobs::JobStore for jobs that messages ask for, tested on a real engine.
#include "tests/contract/job_messages_suite.h"

namespace sluice::test {

TEST_P(JobMessagesContract, a_message_delivered_twice_adds_its_jobs_once_whatever_became_of_them) {
  const auto told = message();
  EXPECT_TRUE(enqueue_once(told, {job(), job(), unique_job("key")}));
  EXPECT_FALSE(enqueue_once(told, {job(), job(), unique_job("key")}));
  const std::vector<ClaimedJob> claimed = claim();
  ASSERT_EQ(claimed.size(), 3U);
  EXPECT_EQ(complete(claimed[0]), Verdict::accepted);
  fail(claimed[1], true);
  fail(claimed[2], true);
  EXPECT_FALSE(enqueue_once(told, {job(), job(), unique_job("key")}));
  EXPECT_TRUE(claim().empty());
  EXPECT_TRUE(enqueue_once(message(), {unique_job("key")}));
  EXPECT_EQ(claim().size(), 1U) << "a dead job's key is free for another message";
}

TEST_P(JobMessagesContract, a_message_delivered_many_times_at_once_adds_its_jobs_once) {
  for (int round = 0; round < 5; ++round) {
    const auto told = message();
    std::vector<Task<bool>> deliveries;
    for (int i = 0; i < 8; ++i) deliveries.push_back(store_->enqueue_once(told, {job(), job_of_key("throttled")}));
    const std::vector<bool> first = values_of(std::move(deliveries));
    EXPECT_EQ(std::ranges::count(first, true), 1);
    const std::vector<ClaimedJob> claimed = claim();
    EXPECT_EQ(claimed.size(), 2U);
    for (const ClaimedJob& one : claimed) EXPECT_EQ(complete(one), Verdict::accepted);
  }
}

}  // namespace sluice::test
