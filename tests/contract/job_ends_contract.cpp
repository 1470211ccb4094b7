// Contract of every jobs::JobStore for the end of a try: completed, failed, or its lock expired.
#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

TEST_P(JobStoreContract, a_completed_job_keeps_its_result_and_its_try) {
  const JobId id = add();
  EXPECT_EQ(complete(lock_of(claim_one()), R"({"ok":true})"), Verdict::accepted);
  const Job done = find(id);
  EXPECT_EQ(done.status, succeeded);
  EXPECT_EQ(done.result, R"({"ok":true})");
  EXPECT_TRUE(done.finished_at);
  ASSERT_EQ(done.history.size(), 1U);
  EXPECT_EQ(done.history[0].outcome, "succeeded");
  EXPECT_EQ(done.history[0].worker, "worker");
}

TEST_P(JobStoreContract, a_wrong_or_repeated_end_is_refused_for_what_it_is) {
  enqueue_all(std::vector<NewJob>(3, job()));
  const ClaimedJob first = claim_one();
  const ClaimedJob second = claim_one();
  const ClaimedJob third = claim_one();
  const jobs::LockedJob stale{third.id, third.token + 1};
  const jobs::LockedJob unknown{make_id(), 1};
  const std::vector<Verdict> verdicts = run(
      store_->complete({{lock_of(second)}, {stale}, {unknown}, {lock_of(second)}, {lock_of(first)}, {lock_of(first)}}));
  EXPECT_EQ(verdicts, (std::vector{Verdict::accepted, Verdict::stale_lock, Verdict::unknown, Verdict::not_running,
                                   Verdict::accepted, Verdict::not_running}));
  EXPECT_EQ(complete(first), Verdict::not_running);
  EXPECT_EQ(fail(first).verdict, Verdict::not_running);
  EXPECT_EQ(renew(first), Verdict::not_running);
  EXPECT_EQ(run(store_->renew({unknown})).at(0), Verdict::unknown);
  EXPECT_EQ(status(first.id), succeeded);
}

TEST_P(JobStoreContract, each_token_of_a_job_is_judged_by_itself) {
  enqueue_all(std::vector<NewJob>(1, job()));
  const ClaimedJob claimed = claim_one();
  const jobs::LockedJob stale{claimed.id, claimed.token + 1};
  const std::vector<Verdict> verdicts = run(store_->renew({stale, lock_of(claimed), stale}));
  EXPECT_EQ(verdicts, (std::vector{Verdict::stale_lock, Verdict::accepted, Verdict::stale_lock}));
}

TEST_P(JobStoreContract, a_failed_job_comes_back_after_its_delay_and_dies_with_its_last_try) {
  use({.max_attempts = 2, .backoff = {.fixed = {200ms}}});
  const JobId id = add();
  const jobs::FailVerdict once = fail(claim_one());
  EXPECT_EQ(once.verdict, Verdict::accepted);
  EXPECT_FALSE(once.dead);
  const Job waiting = find(id);
  EXPECT_EQ(waiting.status, failed);
  EXPECT_EQ(waiting.last_error, "it broke");
  std::vector<ClaimedJob> again;
  ASSERT_TRUE(eventually([&] {
    again = claim();
    return !again.empty();
  }));
  EXPECT_GE(find(id).locked_at.value(), waiting.run_after);
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_TRUE(fail(again[0]).dead);
  const Job dead_job = find(id);
  EXPECT_EQ(dead_job.status, dead);
  ASSERT_EQ(dead_job.history.size(), 2U);
  EXPECT_EQ(dead_job.history[0].outcome, "failed");
  EXPECT_EQ(dead_job.history[1].outcome, "dead");
  EXPECT_EQ(dead_job.history[1].error, "it broke");
}

TEST_P(JobStoreContract, without_delay_a_failed_job_can_be_claimed_at_once) {
  use({.max_attempts = 3, .backoff = {.fixed = {0s}}});
  add();
  fail(claim_one());
  EXPECT_EQ(claim_one().attempt, 2);
}

TEST_P(JobStoreContract, a_job_handed_back_can_be_claimed_at_once_and_has_all_its_tries) {
  use({.max_attempts = 1});
  for (const auto& key : {std::optional<std::string>(), std::optional<std::string>("a.example")}) {
    NewJob wanted = job();
    wanted.throttle_key = key;
    const JobId id = add(wanted);
    const ClaimedJob first = claim_one();
    jobs::Failure given_back{.job = lock_of(first), .error = "stopped", .released = true};
    const jobs::FailVerdict verdict = run(store_->fail({given_back})).at(0);
    EXPECT_EQ(verdict.verdict, Verdict::accepted);
    EXPECT_FALSE(verdict.dead);
    EXPECT_EQ(status(id), failed);
    EXPECT_EQ(find(id).attempts, 0);
    EXPECT_EQ(complete(first), Verdict::not_running);
    const ClaimedJob second = claim_one();
    EXPECT_EQ(second.id, id);
    EXPECT_EQ(second.attempt, 1);
    EXPECT_EQ(complete(second), Verdict::accepted);
  }
}

TEST_P(JobStoreContract, a_job_handed_on_runs_under_its_new_key_and_has_all_its_tries) {
  use({.max_attempts = 1, .throttle = {.concurrency = 1}});
  for (const auto& key : {std::optional<std::string>(), std::optional<std::string>("a.example")}) {
    const std::string target = unique("b.example");
    NewJob wanted = job();
    wanted.throttle_key = key;
    wanted.unique_key = target;
    const JobId id = add(wanted);
    const ClaimedJob moving = claim_one();
    const JobId first_there = add(job_of_key(target));
    const JobId first_here = add(job_of_key("a.example"));
    jobs::Failure onward{.job = lock_of(moving), .error = "elsewhere", .released = true};
    onward.onward = {.payload = R"({"there": 1})", .throttle_key = target};
    EXPECT_EQ(run(store_->fail({onward})).at(0).verdict, Verdict::accepted);
    EXPECT_EQ(find(id).throttle_key, target);
    EXPECT_EQ(find(id).attempts, 0);
    EXPECT_TRUE(enqueue(wanted).duplicate);

    const std::vector<ClaimedJob> others = claim();
    ASSERT_EQ(others.size(), 2U);
    for (const ClaimedJob& other : others) {
      EXPECT_TRUE(other.id == first_there || other.id == first_here);
      complete(other);
    }
    const ClaimedJob moved = claim_one();
    EXPECT_EQ(moved.id, id);
    EXPECT_EQ(moved.attempt, 1);
    EXPECT_TRUE(moved.payload.contains("there"));
    EXPECT_EQ(moved.throttle_key, target);
    EXPECT_EQ(complete(moved), Verdict::accepted);
  }
}

TEST_P(JobStoreContract, a_permanent_failure_is_death_at_once) {
  use({.max_attempts = 9});
  const JobId id = add();
  EXPECT_TRUE(fail(claim_one(), true).dead);
  EXPECT_EQ(status(id), dead);
}

TEST_P(JobStoreContract, a_lock_that_ran_out_is_taken_over_and_the_first_worker_refused) {
  use({.max_attempts = 3, .lock_ttl = 150ms});
  const JobId id = add();
  const ClaimedJob first = claim_and_lose();
  const ClaimedJob second = claim_one();
  EXPECT_EQ(second.id, id);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_NE(second.token, first.token);
  EXPECT_GT(find(id).run_after, first.lock_expires_at);
  EXPECT_EQ(complete(first), Verdict::stale_lock);
  EXPECT_EQ(renew(first), Verdict::stale_lock);
  EXPECT_EQ(fail(first).verdict, Verdict::stale_lock);
  EXPECT_EQ(complete(second), Verdict::accepted);
  const Job done = find(id);
  ASSERT_EQ(done.history.size(), 2U);
  EXPECT_EQ(done.history[0].outcome, "lost");
  EXPECT_EQ(done.history[1].outcome, "succeeded");
}

TEST_P(JobStoreContract, a_lock_that_ran_out_is_still_the_workers_until_somebody_takes_it) {
  use({.lock_ttl = 50ms});
  add();
  const ClaimedJob late = claim_and_lose();
  EXPECT_EQ(renew(late), Verdict::accepted);
  EXPECT_EQ(complete(late), Verdict::accepted);
}

TEST_P(JobStoreContract, a_renewed_lock_is_not_taken_over) {
  use({.max_attempts = 5, .lock_ttl = 1500ms});
  add();
  ClaimedJob mine = claim_one();
  Instant begun = clock_.now();
  while (clock_.now() < begun + 2s) {
    const Instant asked = clock_.now();
    ASSERT_EQ(renew(mine), Verdict::accepted);
    const std::vector<ClaimedJob> taken = claim();
    if (taken.empty()) continue;
    ASSERT_GE(clock_.now() - asked, 1499ms) << "a lock was taken over before its end";
    mine = taken.at(0);  // the machine stood still for as long as the lock lasts
    begun = clock_.now();
  }
  EXPECT_EQ(complete(mine), Verdict::accepted);
}

TEST_P(JobStoreContract, of_many_who_take_over_one_succeeds) {
  use({.max_attempts = 9, .lock_ttl = 100ms});
  add();
  claim_and_lose();
  use({.max_attempts = 9});
  std::vector<Task<std::vector<ClaimedJob>>> claiming;
  for (int i = 0; i < 20; ++i) claiming.push_back(store_->claim({"worker", {kind_}, 10}));
  size_t taken = 0;
  for (const auto& claimed : values_of(std::move(claiming))) taken += claimed.size();
  EXPECT_EQ(taken, 1U);
}

TEST_P(JobStoreContract, lost_jobs_are_claimed_by_priority_over_all_kinds) {
  const std::string first = unique("a kind");
  const std::string second = unique("b kind");
  const JobKind short_lock{.max_attempts = 3, .lock_ttl = 50ms};
  const jobs::JobKinds kinds({{first, short_lock}, {second, short_lock}});
  sql::SqlJobStore store(database(), kinds, clock_, random_);
  run(store.enqueue({{.kind = first, .payload = "{}", .priority = 5}, {.kind = second, .payload = "{}"}}));
  const std::vector<ClaimedJob> lost = run(store.claim({"worker", {first, second}, 2}));
  ASSERT_EQ(lost.size(), 2U);
  ASSERT_TRUE(eventually([&] { return clock_.wall() > lost[0].lock_expires_at + 5ms; }));
  const std::vector<ClaimedJob> again = run(store.claim({"worker", {first, second}, 1}));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].kind, second);
}

TEST_P(JobStoreContract, whom_a_claim_found_dead_is_told_of_once) {
  use({.max_attempts = 1, .lock_ttl = 50ms});
  const JobId id = add();
  claim_and_lose();
  ASSERT_TRUE(eventually([&] {
    claim();
    return status(id) == dead;
  }));
  EXPECT_EQ(std::ranges::count(run(store_->tend()).died, id), 1);
  EXPECT_EQ(std::ranges::count(run(store_->tend()).died, id), 0);
}

TEST_P(JobStoreContract, a_crash_in_the_last_try_is_death) {
  use({.max_attempts = 1, .lock_ttl = 50ms});
  const JobId id = add();
  const ClaimedJob lost = claim_and_lose();
  std::vector<JobId> died;
  ASSERT_TRUE(eventually([&] {
    std::ranges::copy(run(store_->tend()).died, std::back_inserter(died));
    return status(id) == dead;
  }));
  EXPECT_EQ(std::ranges::count(died, id), 1);
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(complete(lost), Verdict::not_running);
  EXPECT_EQ(find(id).history.at(0).outcome, "lost");
}

}  // namespace sluice::test
