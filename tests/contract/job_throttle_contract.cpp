// Contract of every jobs::JobStore for throttle keys, tested on a real engine.
#include "tests/contract/job_throttle_suite.h"

namespace sluice::test {

TEST_P(JobThrottleContract, no_more_than_k_of_a_key_run_and_an_end_makes_room) {
  use({.throttle = {.concurrency = 2}});
  enqueue_all(std::vector<NewJob>(5, job_of_key("a")));
  std::vector<ClaimedJob> first = claim();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_TRUE(claim().empty());
  complete(first[0]);
  std::vector<ClaimedJob> third = claim();
  ASSERT_EQ(third.size(), 1U);
  fail(first[1], true);
  EXPECT_EQ(claim().size(), 1U);
  EXPECT_EQ(running_of("a"), 2U);
}

TEST_P(JobThrottleContract, a_slot_is_passed_on_also_where_the_completion_names_no_key_or_a_wrong_one) {
  use({.throttle = {.concurrency = 1}});
  enqueue_all(std::vector<NewJob>(5, job_of_key("a")));
  enqueue_all(std::vector<NewJob>(2, job_of_key("b")));
  enqueue_all(std::vector<NewJob>(2, job()));
  const auto complete_as = [&](const ClaimedJob& claimed, std::string kind, std::optional<std::string> key) {
    return run(store_->complete({{lock_of(claimed), std::nullopt, std::move(kind), std::move(key)}})).at(0);
  };
  const std::vector<ClaimedJob> first = claim();
  ASSERT_EQ(first.size(), 4U) << "one of a, one of b, and those without a key";
  EXPECT_EQ(complete_as(first[0], "", std::nullopt), Verdict::accepted);
  const ClaimedJob second = claim_one();
  EXPECT_EQ(second.throttle_key, "a");
  EXPECT_EQ(complete_as(second, kind_, "b"), Verdict::accepted);
  const ClaimedJob third = claim_one();
  EXPECT_EQ(third.throttle_key, "a") << "b is full as before";
  EXPECT_EQ(complete_as(third, "another kind", "a"), Verdict::accepted);
  const ClaimedJob fourth = claim_one();
  EXPECT_EQ(complete_as(fourth, kind_, std::string(3'000, 'x')), Verdict::accepted);
  EXPECT_EQ(claim_one().throttle_key, "a");
  EXPECT_EQ(complete_as(first[2], kind_, "a"), Verdict::accepted) << "it has no key";
  EXPECT_EQ(complete_as(first[2], kind_, "a"), Verdict::not_running);
}

TEST_P(JobThrottleContract, jobs_with_and_without_a_time_of_one_call_go_in_the_order_of_their_times) {
  use({.throttle = {.concurrency = 1}});
  NewJob overdue = job_of_key("a");
  overdue.run_after = clock_.wall() - 1h;
  NewJob later = job_of_key("a");
  later.run_after = clock_.wall() + 1h;
  const std::vector<Enqueued> added = enqueue_all({job_of_key("a"), overdue, later, job_of_key("b")});
  const std::vector<ClaimedJob> first = claim();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].id, added[1].id);
  EXPECT_EQ(first[1].id, added[3].id);
  complete(first[0]);
  EXPECT_EQ(claimed_ids(), std::vector{added[0].id});
}

TEST_P(JobThrottleContract, a_full_key_does_not_stand_before_others) {
  use({.throttle = {.concurrency = 2}});
  enqueue_all(std::vector<NewJob>(50, job_of_key("full", -5)));
  EXPECT_EQ(claim().size(), 2U);
  const JobId other = add(job_of_key("other"));
  const JobId free = add(job());
  EXPECT_EQ(claimed_ids(), (std::vector{other, free}));
}

TEST_P(JobThrottleContract, the_same_key_of_another_kind_is_another_key) {
  use({.throttle = {.concurrency = 1}});
  NewJob other = job_of_key("a");
  other.kind = unique("kind");
  enqueue_all({job_of_key("a"), other, job_of_key("a")});
  EXPECT_EQ(run(store_->claim({"worker", {kind_, other.kind}, 10})).size(), 2U);
}

TEST_P(JobThrottleContract, slots_go_by_priority_also_to_who_comes_later) {
  use({.throttle = {.concurrency = 1}});
  const JobId plain = add(job_of_key("a", 5));
  const JobId better = add(job_of_key("a", 1));
  const JobId best = add(job_of_key("a", 0));
  for (const JobId expected : {best, better, plain}) {
    const ClaimedJob claimed = claim_one();
    EXPECT_EQ(claimed.id, expected);
    complete(claimed);
  }
}

TEST_P(JobThrottleContract, a_claimed_slot_is_not_taken_away) {
  use({.throttle = {.concurrency = 1}});
  add(job_of_key("a", 5));
  const ClaimedJob claimed = claim_one();
  add(job_of_key("a", -5));
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(complete(claimed), Verdict::accepted);
  EXPECT_EQ(claim().size(), 1U);
}

TEST_P(JobThrottleContract, a_canceled_job_gives_its_slot_on) {
  use({.throttle = {.concurrency = 1}});
  const JobId first = add(job_of_key("a"));
  const JobId second = add(job_of_key("a"));
  EXPECT_EQ(run(store_->cancel(first)), true);
  EXPECT_EQ(claimed_ids(), std::vector{second});
}

TEST_P(JobThrottleContract, a_failed_job_gives_its_slot_on_and_gets_one_again_when_due) {
  use({.max_attempts = 2, .backoff = {.fixed = {3s}}, .throttle = {.concurrency = 1}});
  const JobId failing = add(job_of_key("a"));
  const JobId next = add(job_of_key("a"));
  fail(claim_one());
  const ClaimedJob claimed = claim_one();
  EXPECT_EQ(claimed.id, next);
  complete(claimed);
  std::vector<JobId> again;
  ASSERT_TRUE(eventually([&] {
    again = claimed_ids();
    return !again.empty();
  }));
  EXPECT_EQ(again, std::vector{failing});
}

TEST_P(JobThrottleContract, a_job_of_a_key_waits_for_its_time) {
  NewJob much_later = job_of_key("a");
  much_later.run_after = clock_.wall() + 1h;
  add(much_later);
  EXPECT_TRUE(claim().empty());
  const std::optional<Time> next = run(store_->tend()).next;
  ASSERT_TRUE(next);
  EXPECT_LE(*next, *much_later.run_after);
  NewJob later = job_of_key("a");
  later.run_after = clock_.wall() + 300ms;
  const JobId id = add(later);
  ASSERT_TRUE(eventually([&] { return !claim().empty(); }));
  EXPECT_GE(find(id).locked_at.value(), *later.run_after);
}

TEST_P(JobThrottleContract, what_is_due_before_a_later_job_of_its_key_does_not_wait_for_that) {
  use({.max_attempts = 2, .backoff = {.fixed = {300ms}}, .throttle = {.concurrency = 2}});
  NewJob much_later = job_of_key("a");
  much_later.run_after = clock_.wall() + 1h;
  add(much_later);
  const JobId failing = add(job_of_key("a"));
  fail(claim_one());
  std::vector<ClaimedJob> again;
  ASSERT_TRUE(eventually([&] {
    again = claim();
    return !again.empty();
  }));
  EXPECT_EQ(again[0].id, failing);
  fail(again[0], true);
  EXPECT_EQ(run(store_->retry(failing)), true);
  EXPECT_EQ(claimed_ids(), std::vector{failing});
  const JobId sooner = add(job_of_key("a"));
  EXPECT_EQ(claimed_ids(), std::vector{sooner});
}

// Jobs are added, claimed, completed, failed and canceled in a random order. Each must run in the end: the state that
// the key keeps of them must never hide one.
TEST_P(JobThrottleContract, no_job_of_a_key_is_overlooked_whatever_happens_to_the_others) {
  use({.max_attempts = 3, .backoff = {.fixed = {1ms}}, .throttle = {.concurrency = 2}});
  SeededRandom random(7);
  std::set<JobId> open;
  std::vector<ClaimedJob> running_jobs;
  const auto take = [&] {
    for (ClaimedJob& one : claim()) running_jobs.push_back(std::move(one));
  };
  const auto end_one = [&](bool succeeds) {
    if (running_jobs.empty()) return;
    const ClaimedJob one = running_jobs.back();
    running_jobs.pop_back();
    const bool is_dead = !succeeds && one.attempt == 3;
    succeeds ? void(complete(one)) : void(fail(one));
    if (succeeds || is_dead) open.erase(one.id);
  };
  for (int step = 0; step < 300; ++step) {
    switch (random.below(6)) {
      case 0:
      case 1: {
        NewJob one = job_of_key("a", static_cast<int32_t>(random.below(3)));
        if (random.below(2) == 0) one.run_after = clock_.wall() + Duration(random.below(4'000)) - 2ms;
        open.insert(add(one));
        break;
      }
      case 2: take(); break;
      case 3: end_one(true); break;
      case 4: end_one(false); break;
      default: {
        if (open.empty()) break;
        const JobId any = *open.begin();
        if (run(store_->cancel(any)) == true) open.erase(any);
      }
    }
    ASSERT_LE(running_jobs.size(), 2U);
  }
  EXPECT_TRUE(eventually([&] {
    take();
    while (!running_jobs.empty()) end_one(true);
    return open.empty();
  })) << open.size()
      << " jobs never ran";
}

TEST_P(JobThrottleContract, a_lost_job_gives_its_slot_on_and_waits_for_one_again) {
  const JobKind short_lock{.max_attempts = 2, .lock_ttl = 100ms, .throttle = {.concurrency = 1}};
  use(short_lock);
  const JobId lost = add(job_of_key("a"));
  const JobId waiting = add(job_of_key("a"));
  claim_and_lose();
  use({.max_attempts = 2, .throttle = {.concurrency = 1}});
  const ClaimedJob other = claim_one();
  EXPECT_EQ(other.id, waiting);
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(complete(other), Verdict::accepted);
  use(short_lock);
  EXPECT_EQ(claim_and_lose().id, lost);
  ASSERT_TRUE(eventually([&] { return claim().empty() && status(lost) == dead; }));
  add(job_of_key("a"));
  EXPECT_EQ(claim().size(), 1U);
}

TEST_P(JobThrottleContract, a_lost_job_starts_again_only_at_the_rate_of_its_key) {
  use({.max_attempts = 2, .lock_ttl = 50ms, .throttle = {.concurrency = 1, .per_second = 2}});
  const JobId id = add(job_of_key("a"));
  claim_and_lose();
  const Time first = find(id).locked_at.value();
  ASSERT_TRUE(eventually([&] { return !claim().empty(); }));
  EXPECT_GE(find(id).locked_at.value() - first, 500ms);
}

TEST_P(JobThrottleContract, a_key_with_a_rate_is_not_looked_at_while_all_its_slots_are_taken) {
  use({.throttle = {.concurrency = 1, .per_second = 1000}});
  enqueue_all(std::vector<NewJob>(3, job_of_key("a")));
  const ClaimedJob running_job = claim_one();
  const sql::Rows full =
      run(database().read("SELECT look_at FROM throttle_states WHERE kind = $1", sql::Params(kind_)));
  EXPECT_TRUE(full.one().is_null(0));
  complete(running_job);
  EXPECT_TRUE(eventually([&] { return !claim().empty(); }));
}

TEST_P(JobThrottleContract, a_dead_job_tried_anew_waits_for_a_slot) {
  use({.throttle = {.concurrency = 1}});
  const JobId died = add(job_of_key("a"));
  fail(claim_one(), true);
  const JobId other = add(job_of_key("a"));
  EXPECT_EQ(run(store_->retry(died)), true);
  const ClaimedJob claimed = claim_one();
  EXPECT_EQ(claimed.id, other);
  EXPECT_TRUE(claim().empty());
  complete(claimed);
  EXPECT_EQ(claimed_ids(), std::vector{died});
}

TEST_P(JobThrottleContract, starts_of_a_key_are_spaced_where_a_rate_is_set) {
  use({.throttle = {.concurrency = 5, .per_second = 5}});
  enqueue_all(std::vector<NewJob>(4, job_of_key("a")));
  std::vector<Time> starts;
  ASSERT_TRUE(eventually([&] {
    for (const ClaimedJob& claimed : claim()) starts.push_back(find(claimed.id).locked_at.value());
    return starts.size() == 4;
  }));
  for (size_t i = 1; i < starts.size(); ++i) EXPECT_GE(starts[i] - starts[i - 1], 200ms);
}

TEST_P(JobThrottleContract, a_rate_also_counts_starts_that_have_ended) {
  use({.throttle = {.concurrency = 5, .per_second = 4}});
  enqueue_all(std::vector<NewJob>(3, job_of_key("a")));
  std::vector<Time> starts;
  ASSERT_TRUE(eventually([&] {
    for (const ClaimedJob& claimed : claim()) {
      starts.push_back(find(claimed.id).locked_at.value());
      complete(claimed);
    }
    return starts.size() == 3;
  }));
  EXPECT_GE(starts[1] - starts[0], 250ms);
  EXPECT_GE(starts[2] - starts[1], 250ms);
}

TEST_P(JobThrottleContract, a_key_that_no_job_has_is_forgotten) {
  use({.throttle = {.concurrency = 1}});
  add(job_of_key("idle"));
  complete(claim_one());
  enqueue_all({job_of_key("running"), job_of_key("waiting"), job_of_key("waiting")});
  const ClaimedJob running_job = claim_one();
  const auto keys = [&] {
    const sql::Rows rows = run(database().read(
        "SELECT throttle_key FROM throttle_states WHERE kind = $1 ORDER BY throttle_key", sql::Params(kind_)));
    std::vector<std::string> names;
    for (const sql::Row& row : rows) names.push_back(row.text(0));
    return names;
  };
  EXPECT_EQ(keys(), (std::vector<std::string>{"idle", "running", "waiting"}));
  EXPECT_GE(run(store_->forget_idle_keys(10'000)), 1U);
  EXPECT_EQ(keys(), (std::vector<std::string>{"running", "waiting"}));
  enqueue_all(std::vector<NewJob>(2, job_of_key("idle")));
  EXPECT_EQ(claim().size(), 2U);
  EXPECT_EQ(complete(running_job), Verdict::accepted);
}

TEST_P(JobThrottleContract, between_many_that_are_not_due_the_due_ones_are_found_in_order) {
  use({.throttle = {.concurrency = 4}});
  const auto job = [&](int32_t priority, std::optional<Time> run_after) {
    NewJob one = job_of_key("a", priority);
    one.run_after = run_after;
    return one;
  };
  enqueue_all(std::vector<NewJob>(4, job_of_key("a")));
  const std::vector<ClaimedJob> running = claim(4);
  std::vector<NewJob> later;
  for (int32_t priority = 1; priority <= 3; ++priority) {
    for (int i = 0; i < 100; ++i) later.push_back(job(priority, clock_.wall() + 1h));
  }
  enqueue_all(later);
  const JobId last = add(job(4, std::nullopt));
  const JobId second = add(job(2, std::nullopt));
  const JobId first = add(job(1, clock_.wall() - 1h));
  const JobId third = add(job(2, std::nullopt));
  add(job(5, std::nullopt));
  for (const ClaimedJob& one : running) EXPECT_EQ(complete(one), Verdict::accepted);
  EXPECT_EQ(claimed_ids(10), (std::vector{first, second, third, last}));
}

TEST_P(JobThrottleContract, behind_a_hundred_thousand_of_one_key_another_is_next) {
  use({.throttle = {.concurrency = 2}});
  const std::vector<NewJob> crowd(10'000, job_of_key("crowd"));
  for (int i = 0; i < 10; ++i) enqueue_all(crowd);
  const JobId other = add(job_of_key("other"));
  EXPECT_THAT(claimed_ids(3), testing::Contains(other));
  EXPECT_EQ(running_of("crowd"), 2U);
}

TEST_P(JobThrottleContract, many_workers_never_exceed_k_and_lose_nothing) {
  use({.throttle = {.concurrency = 2}});
  std::vector<NewJob> crowd;
  for (int i = 0; i < 200; ++i) crowd.push_back(job_of_key(fmt::format("domain {}", i % 7), i % 3));
  enqueue_all(crowd);
  sql::SqlJobStore second(database(), *kinds_, clock_, random_);
  Tally tally;
  std::vector<Task<>> workers;
  for (int i = 0; i < 6; ++i) workers.push_back(work(i % 2 == 0 ? *store_ : second, kind_, crowd.size(), tally));
  for (const auto& outcome : run_all(std::move(workers))) {
    if (outcome.error) std::rethrow_exception(outcome.error);
  }
  EXPECT_LE(tally.most, 2);
  EXPECT_EQ(tally.done, crowd.size());
  EXPECT_EQ(tally.seen.size(), crowd.size());
  EXPECT_EQ(std::set<JobId>(tally.seen.begin(), tally.seen.end()).size(), crowd.size());
}

}  // namespace sluice::test
