// Contract of every jobs::JobStore for requests that are sent again, tested on a real engine.
#include "tests/contract/job_requests_suite.h"

namespace sluice::test {

TEST_P(JobRequestsContract, a_request_sent_again_gets_its_first_answer_whatever_became_of_its_jobs) {
  const JobId there = add(unique_job("there"));
  const auto asked = request();
  const Answers first = enqueue_for(asked, {job(), unique_job("there"), unique_job("new")});
  ASSERT_EQ(first.value().size(), 3U);
  EXPECT_FALSE(first->at(0).duplicate);
  EXPECT_TRUE(first->at(1).duplicate);
  EXPECT_EQ(first->at(1).id, there);
  EXPECT_FALSE(first->at(2).duplicate);
  EXPECT_EQ(flat(enqueue_for(asked, {job(), unique_job("there"), unique_job("new")})), flat(first));

  const std::vector<ClaimedJob> claimed = claim();
  ASSERT_EQ(claimed.size(), 3U);
  for (const ClaimedJob& one : claimed) fail(one, true);
  run(store_->purge(-1s, 1000));
  EXPECT_EQ(flat(enqueue_for(asked, {job(), unique_job("there"), unique_job("new")})), flat(first));
  EXPECT_TRUE(claim().empty());
}

TEST_P(JobRequestsContract, a_request_of_another_content_is_refused_and_adds_nothing) {
  const auto asked = request();
  EXPECT_TRUE(enqueue_for(asked, {job()}));
  auto other = request();
  other.id = asked.id;
  EXPECT_FALSE(enqueue_for(other, {job(), job()}));
  EXPECT_EQ(claim().size(), 1U);
}

TEST_P(JobRequestsContract, a_request_sent_many_times_at_once_adds_its_jobs_once) {
  for (int round = 0; round < 5; ++round) {
    const auto asked = request();
    std::vector<Task<Answers>> sent;
    for (int i = 0; i < 8; ++i) sent.push_back(store_->enqueue_for(asked, {job(), job_of_key("throttled")}));
    const std::vector<Answers> answers = values_of(std::move(sent));
    for (const Answers& one : answers) EXPECT_EQ(flat(one), flat(answers.front()));
    const std::vector<ClaimedJob> claimed = claim();
    EXPECT_EQ(claimed.size(), 2U);
    for (const ClaimedJob& one : claimed) EXPECT_EQ(complete(one), Verdict::accepted);
  }
}

TEST_P(JobRequestsContract, only_requests_of_some_age_are_forgotten) {
  const auto asked = request();
  EXPECT_TRUE(enqueue_for(asked, {job()}));
  run(store_->forget_requests(1h, 1000));
  EXPECT_TRUE(enqueue_for(asked, {job()}));
  EXPECT_EQ(claim().size(), 1U);
  size_t forgotten = 0;
  do forgotten = run(store_->forget_requests(-1s, 2));
  while (forgotten == 2);
  EXPECT_TRUE(enqueue_for(asked, {job()}));
  EXPECT_EQ(claim().size(), 1U);
}

}  // namespace sluice::test
