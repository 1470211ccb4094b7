// Contract of every jobs::JobStore for single jobs, tested on a real engine.
#include <set>

#include "tests/contract/job_store_fixture.h"

namespace sluice::test {

TEST_P(JobStoreContract, a_new_job_is_found_as_it_was_given) {
  const Time later = Time{std::chrono::sys_days{std::chrono::year{2040} / 5 / 1}} + 123456us;
  const std::string payload = R"({"quote":"\"","slash":"\\","braces":"{,}","null":null,"umlaut":"ü"})";
  const JobId id = add({.kind = kind_,
                        .payload = payload,
                        .unique_key = "a {\"key\"}, and more\\",
                        .priority = -7,
                        .run_after = later,
                        .max_attempts = 9,
                        .throttle_key = "example.com"});
  const Job found = find(id);
  EXPECT_EQ(found.kind, kind_);
  EXPECT_EQ(found.payload, payload);
  EXPECT_EQ(found.unique_key, "a {\"key\"}, and more\\");
  EXPECT_EQ(found.priority, -7);
  EXPECT_EQ(found.run_after, later);
  EXPECT_EQ(found.max_attempts, 9);
  EXPECT_EQ(found.throttle_key, "example.com");
  EXPECT_EQ(found.status, queued);
  EXPECT_EQ(found.attempts, 0);
  EXPECT_TRUE(found.history.empty());
  EXPECT_FALSE(run(store_->find(make_id())));
}

TEST_P(JobStoreContract, a_claim_takes_by_priority_then_time_then_order) {
  const Time past = clock_.wall() - 1h;
  const std::vector<Enqueued> added = enqueue_all({{.kind = kind_, .payload = "1"},
                                                   {.kind = kind_, .payload = "2"},
                                                   {.kind = kind_, .payload = "3", .run_after = past},
                                                   {.kind = kind_, .payload = "4", .priority = -1},
                                                   {.kind = kind_, .payload = "5", .priority = 1, .run_after = past}});
  const std::vector<JobId> expected{added[3].id, added[2].id, added[0].id, added[1].id};
  EXPECT_EQ(claimed_ids(4), expected);
  EXPECT_EQ(claimed_ids(4), std::vector{added[4].id});
  EXPECT_TRUE(claim().empty());
}

TEST_P(JobStoreContract, a_claim_gives_all_a_worker_needs) {
  use({.max_attempts = 3, .lock_ttl = 1min});
  const JobId id = add(job(R"({"a":1})"));
  const Time before = clock_.wall();
  const ClaimedJob claimed = claim_one();
  EXPECT_EQ(claimed.id, id);
  EXPECT_EQ(claimed.kind, kind_);
  EXPECT_EQ(claimed.payload, R"({"a":1})");
  EXPECT_EQ(claimed.attempt, 1);
  EXPECT_EQ(claimed.max_attempts, 3);
  EXPECT_GT(claimed.lock_expires_at, before + 59s);
  EXPECT_LT(claimed.lock_expires_at, clock_.wall() + 61s);
  const Job running_job = find(id);
  EXPECT_EQ(running_job.status, running);
  EXPECT_EQ(running_job.locked_by, "worker");
  ASSERT_EQ(running_job.history.size(), 1U);
  EXPECT_EQ(running_job.history[0].outcome, "");
}

TEST_P(JobStoreContract, a_claim_of_several_kinds_takes_the_best_of_all) {
  const std::string other = unique("kind");
  const std::string unwanted = unique("kind");
  const std::vector<Enqueued> added = enqueue_all({{.kind = kind_, .payload = "1", .priority = 3},
                                                   {.kind = other, .payload = "2", .priority = 1},
                                                   {.kind = unwanted, .payload = "3", .priority = 0},
                                                   {.kind = kind_, .payload = "4", .priority = 2},
                                                   {.kind = other, .payload = "5", .priority = 4}});
  const auto taken = run(store_->claim({"worker", {kind_, other, kind_}, 3}));
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].id, added[1].id);
  EXPECT_EQ(taken[1].id, added[3].id);
  EXPECT_EQ(taken[2].id, added[0].id);
  EXPECT_EQ(run(store_->claim({"worker", {kind_, other}, 3})).size(), 1U);
  EXPECT_TRUE(run(store_->claim({"worker", {}, 3})).empty());
}

TEST_P(JobStoreContract, a_better_job_added_later_is_claimed_first) {
  enqueue_all(std::vector<NewJob>(20, job()));
  EXPECT_EQ(claim(5).size(), 5U);
  NewJob urgent = job();
  urgent.priority = -1;
  const JobId id = add(urgent);
  std::vector<JobId> seen;
  EXPECT_TRUE(eventually([&] {
    seen = claimed_ids(1);
    return seen.empty() || seen.front() == id;
  }));
  EXPECT_FALSE(seen.empty());
}

TEST_P(JobStoreContract, a_job_waits_for_its_time) {
  NewJob much_later = job();
  much_later.run_after = clock_.wall() + 1h;
  add(much_later);
  EXPECT_TRUE(claim().empty());
  const std::optional<Time> next = run(store_->tend()).next;
  ASSERT_TRUE(next);
  EXPECT_LE(*next, *much_later.run_after);
  NewJob later = job();
  later.run_after = clock_.wall() + 300ms;
  const JobId id = add(later);
  std::vector<JobId> claimed;
  ASSERT_TRUE(eventually([&] {
    claimed = claimed_ids();
    return !claimed.empty();
  }));
  EXPECT_EQ(claimed, std::vector{id});
  EXPECT_GE(find(id).locked_at.value(), *later.run_after);
}

TEST_P(JobStoreContract, a_unique_key_is_taken_while_its_job_is_live_or_has_succeeded) {
  const Enqueued first = enqueue(unique_job("key"));
  EXPECT_FALSE(first.duplicate);
  const auto is_duplicate = [&] {
    const Enqueued again = enqueue(unique_job("key"));
    EXPECT_EQ(again.id, first.id);
    return again.duplicate;
  };
  EXPECT_TRUE(is_duplicate());
  const ClaimedJob claimed = claim_one();
  EXPECT_TRUE(is_duplicate());
  complete(claimed);
  EXPECT_TRUE(is_duplicate());
  EXPECT_EQ(run(store_->purge(-1s, 1000)) > 0, true);
  EXPECT_FALSE(run(store_->find(first.id)));
  EXPECT_TRUE(is_duplicate());
  EXPECT_TRUE(claim().empty());
  NewJob other = unique_job("key");
  other.kind = unique("kind");
  EXPECT_FALSE(enqueue(other).duplicate);
}

TEST_P(JobStoreContract, a_unique_key_is_free_again_when_its_job_is_dead_or_canceled) {
  const JobId first = add(unique_job("key"));
  fail(claim_one(), true);
  const Enqueued second = enqueue(unique_job("key"));
  EXPECT_FALSE(second.duplicate);
  EXPECT_EQ(run(store_->cancel(second.id)), true);
  const Enqueued third = enqueue(unique_job("key"));
  EXPECT_FALSE(third.duplicate);
  // The dead one would be a second live job with the key.
  EXPECT_EQ(run(store_->retry(first)), false);
  run(store_->cancel(third.id));
  EXPECT_EQ(run(store_->retry(first)), true);
  EXPECT_TRUE(enqueue(unique_job("key")).duplicate);
}

TEST_P(JobStoreContract, a_key_that_stands_twice_in_one_call_makes_one_job) {
  const std::vector<Enqueued> added =
      enqueue_all({unique_job("one"), unique_job("two"), unique_job("one"), job(), unique_job("two")});
  EXPECT_FALSE(added[0].duplicate);
  EXPECT_FALSE(added[1].duplicate);
  EXPECT_TRUE(added[2].duplicate);
  EXPECT_EQ(added[2].id, added[0].id);
  EXPECT_FALSE(added[3].duplicate);
  EXPECT_EQ(added[4].id, added[1].id);
  EXPECT_EQ(claim().size(), 3U);
}

TEST_P(JobStoreContract, of_many_who_add_the_same_keys_each_key_makes_one_job) {
  std::vector<Task<std::vector<Enqueued>>> adding;
  for (int caller = 0; caller < 20; ++caller) {
    std::vector<NewJob> same;
    for (int i = 0; i < 10; ++i) same.push_back(unique_job(fmt::format("key {}", (i + caller) % 10)));
    adding.push_back(store_->enqueue(std::move(same)));
  }
  size_t added = 0;
  for (const auto& answers : values_of(std::move(adding))) {
    added += static_cast<size_t>(std::ranges::count(answers, false, &Enqueued::duplicate));
  }
  EXPECT_EQ(added, 10U);
  EXPECT_EQ(claim(100).size(), 10U);
}

TEST_P(JobStoreContract, adding_is_all_or_nothing) {
  NewJob bad = job();
  bad.max_attempts = 0;
  EXPECT_ANY_THROW(enqueue_all({unique_job("key"), job(), bad}));
  EXPECT_TRUE(claim().empty());
  EXPECT_FALSE(enqueue(unique_job("key")).duplicate);
}

TEST_P(JobStoreContract, canceling_stops_what_has_not_started) {
  use({.backoff = {.fixed = {1h}}});
  const JobId waiting = add();
  EXPECT_EQ(run(store_->cancel(waiting)), true);
  EXPECT_EQ(status(waiting), canceled);
  EXPECT_EQ(run(store_->cancel(waiting)), false);
  const JobId failing = add();
  const ClaimedJob claimed = claim_one();
  EXPECT_EQ(run(store_->cancel(failing)), false);
  fail(claimed);
  EXPECT_EQ(run(store_->cancel(failing)), true);
  EXPECT_EQ(find(failing).history.size(), 1U);
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(run(store_->cancel(make_id())), std::nullopt);
}

TEST_P(JobStoreContract, a_dead_job_can_be_tried_anew_with_all_its_attempts) {
  use({.max_attempts = 2});
  const JobId id = add();
  EXPECT_EQ(run(store_->retry(id)), false);
  const ClaimedJob first = claim_one();
  fail(first, true);
  EXPECT_EQ(run(store_->retry(id)), true);
  EXPECT_EQ(status(id), queued);
  EXPECT_EQ(run(store_->retry(id)), false);
  const ClaimedJob again = claim_one();
  EXPECT_EQ(again.attempt, 1);
  EXPECT_NE(again.token, first.token);
  EXPECT_EQ(complete(first), Verdict::stale_lock);
  EXPECT_EQ(complete(again), Verdict::accepted);
  EXPECT_EQ(find(id).history.size(), 2U);
  EXPECT_EQ(run(store_->retry(id)), false);
  EXPECT_EQ(run(store_->retry(make_id())), std::nullopt);
}

TEST_P(JobStoreContract, many_claimers_never_get_the_same_job) {
  enqueue_all(std::vector<NewJob>(500, job()));
  std::vector<Task<std::vector<ClaimedJob>>> claiming;
  for (int i = 0; i < 100; ++i) claiming.push_back(store_->claim({"worker", {kind_}, 7}));
  std::set<JobId> seen;
  size_t taken = 0;
  for (const auto& claimed : values_of(std::move(claiming))) {
    taken += claimed.size();
    for (const ClaimedJob& one : claimed) seen.insert(one.id);
  }
  EXPECT_TRUE(eventually([&] {
    const std::vector<JobId> left = claimed_ids(100);
    taken += left.size();
    seen.insert(left.begin(), left.end());
    return taken >= 500;
  }));
  EXPECT_EQ(taken, 500U);
  EXPECT_EQ(seen.size(), 500U);
}

TEST_P(JobStoreContract, lists_are_newest_first_in_pages) {
  use({.backoff = {.fixed = {1h}}});
  std::vector<JobId> ids;
  for (const Enqueued& added : enqueue_all(std::vector<NewJob>(7, job()))) ids.push_back(added.id);
  complete(claim_one());
  fail(claim_one());
  fail(claim_one(), true);
  run(store_->cancel(ids[6]));
  std::vector<JobId> listed;
  std::optional<JobId> next;
  do {
    const jobs::JobPage page = run(store_->list({.kind = kind_}, next, 3));
    for (const Job& one : page.jobs) listed.push_back(one.id);
    next = page.next;
  } while (next);
  EXPECT_EQ(listed, std::vector(ids.rbegin(), ids.rend()));
  const auto count = [&](JobStatus wanted) {
    const jobs::JobPage page = run(store_->list({kind_, wanted}, std::nullopt, 100));
    for (const Job& one : page.jobs) EXPECT_EQ(one.status, wanted);
    return page.jobs.size();
  };
  EXPECT_EQ(count(queued), 3U);
  EXPECT_EQ(count(running), 0U);
  EXPECT_EQ(count(succeeded), 1U);
  EXPECT_EQ(count(failed), 1U);
  EXPECT_EQ(count(dead), 1U);
  EXPECT_EQ(count(canceled), 1U);
}

TEST_P(JobStoreContract, stats_tell_counts_age_rates_and_who_fails) {
  use({.backoff = {.fixed = {1h}}});
  NewJob old = job_of_key("bad.example");
  old.run_after = clock_.wall() - 1h;
  enqueue_all({old, job(), job(), job(), job()});
  fail(claim_one());
  complete(claim_one());
  fail(claim_one(), true);
  run(store_->cancel(run(store_->list({kind_, queued}, std::nullopt, 1)).jobs.at(0).id));
  const jobs::JobStats stats = run(store_->stats());
  const auto found = std::ranges::find(stats.kinds, kind_, &jobs::KindStats::kind);
  ASSERT_NE(found, stats.kinds.end());
  EXPECT_EQ(found->counts,
            (std::map<JobStatus, int64_t>{{queued, 1}, {succeeded, 1}, {failed, 1}, {dead, 1}, {canceled, 1}}));
  EXPECT_TRUE(found->oldest_waiting);
  EXPECT_DOUBLE_EQ(found->rates.added, 5.0 / 60);
  EXPECT_DOUBLE_EQ(found->rates.succeeded, 1.0 / 60);
  EXPECT_DOUBLE_EQ(found->rates.failed, 1.0 / 60);
  EXPECT_DOUBLE_EQ(found->rates.dead, 1.0 / 60);
  EXPECT_DOUBLE_EQ(found->rates.canceled, 1.0 / 60);
  const auto failing = std::ranges::find(stats.top_failing, kind_, &jobs::FailingKey::kind);
  ASSERT_NE(failing, stats.top_failing.end());
  EXPECT_EQ(failing->throttle_key, "bad.example");
  EXPECT_EQ(failing->failures, 1);
}

TEST_P(JobStoreContract, stats_forget_what_was_purged_or_tried_anew) {
  const auto counts = [&] {
    sql::SqlJobStore fresh(database(), *kinds_, clock_, random_);
    for (const jobs::KindStats& one : run(fresh.stats()).kinds) {
      if (one.kind == kind_) return one.counts;
    }
    return std::map<JobStatus, int64_t>{};
  };
  const JobId died = add();
  fail(claim_one(), true);
  EXPECT_EQ(counts(), (std::map<JobStatus, int64_t>{{dead, 1}}));
  run(store_->retry(died));
  EXPECT_EQ(counts(), (std::map<JobStatus, int64_t>{{queued, 1}}));
  complete(claim_one());
  EXPECT_EQ(counts(), (std::map<JobStatus, int64_t>{{succeeded, 1}}));
  while (run(store_->purge(-1s, 1000)) == 1000) {
  }
  EXPECT_EQ(counts(), (std::map<JobStatus, int64_t>{}));
}

TEST_P(JobStoreContract, a_page_of_a_rare_kind_looks_through_a_part_of_all_jobs_at_a_time) {
  const JobId rare = add();
  NewJob common = job();
  common.kind = unique("kind");
  enqueue_all(std::vector<NewJob>(10'001, common));
  const jobs::JobPage first = run(store_->list({.kind = kind_}, std::nullopt, 10));
  EXPECT_TRUE(first.jobs.empty());
  ASSERT_TRUE(first.next);
  const jobs::JobPage second = run(store_->list({.kind = kind_}, first.next, 10));
  ASSERT_EQ(second.jobs.size(), 1U);
  EXPECT_EQ(second.jobs[0].id, rare);
}

TEST_P(JobStoreContract, the_lock_token_is_shown_live_and_finished) {
  const JobId id = add();
  EXPECT_EQ(find(id).lock_token, 0);
  const ClaimedJob claimed = claim_one();
  const auto listed = [&](JobStatus status) { return run(store_->list({kind_, status}, std::nullopt, 1)).jobs.at(0); };
  EXPECT_EQ(find(id).lock_token, claimed.token);
  EXPECT_EQ(listed(running).lock_token, claimed.token);
  complete(claimed);
  EXPECT_EQ(find(id).lock_token, claimed.token);
  EXPECT_EQ(listed(succeeded).lock_token, claimed.token);
}

TEST_P(JobStoreContract, only_finished_jobs_of_some_age_are_purged) {
  const JobId done = add();
  complete(claim_one());
  const JobId live = add();
  run(store_->purge(1h, 1000));
  EXPECT_TRUE(run(store_->find(done)));
  size_t purged = 0;
  do purged = run(store_->purge(-1s, 2));
  while (purged == 2);
  EXPECT_FALSE(run(store_->find(done)));
  EXPECT_EQ(status(live), queued);
}

}  // namespace sluice::test
