// Plans of the job store and the inbox (tests/contract/postgres_plans.h).
#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/messaging/inbox.h"
#include "tests/contract/lock_session.h"
#include "tests/contract/postgres_plans.h"

namespace sluice::test {
namespace {

using jobs::ClaimedJob;
using jobs::JobId;
using jobs::NewJob;

class PostgresJobPlans : public PostgresPlans {
 protected:
  void SetUp() override {
    PostgresPlans::SetUp();
    if (!server_) return;
    database_ = login("job_service");
    store_.emplace(*database_, kinds_, clock_, random_);
  }

  void fill_tables() override {
    execute("ALTER TABLE job_service.finished_jobs DISABLE TRIGGER USER");
    for (const char* text : {
             "WITH made AS (INSERT INTO throttle_keys (kind, throttle_key) "
             "  SELECT 'limited', 'key ' || i FROM generate_series(1, 30000) AS i ON CONFLICT DO NOTHING "
             "  RETURNING kind, throttle_key) "
             "INSERT INTO throttle_states (kind, throttle_key, look_at) "
             "SELECT kind, throttle_key, CASE WHEN hashtext(throttle_key) % 3 = 0 THEN now() + interval '1 day' END "
             "FROM made",
             "INSERT INTO job_keys (kind, unique_key, job_id) "
             "SELECT 'limited', 'filling ' || i, gen_random_uuid() FROM generate_series(1, 30000) AS i",
             "INSERT INTO jobs (id, kind, status, slot, priority, run_after, max_attempts, created_at, "
             "  updated_at, throttle_key, payload) "
             "SELECT lpad(i::text, 32, '0')::uuid, 'filling', 'queued', CASE WHEN i % 3 = 0 THEN 0 END, 0, "
             "  now() + interval '1 day', 2, now(), now(), CASE WHEN i % 3 = 1 THEN 'key ' || i END, '{}' "
             "FROM generate_series(1, 30000) AS i",
             "INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, "
             "  lock_token, locked_at, created_at, finished_at, locked_by, payload) "
             "SELECT lpad(i::text, 32, '0')::uuid, 'filling', 'succeeded', 0, now(), 1, 2, 1, now(), now(), now(), "
             "'w', '{}' "
             "FROM generate_series(30001, 60000) AS i",
             "INSERT INTO job_attempts (job_id, lock_token, kind, number, started_at, ended_at, worker, "
             "  outcome) SELECT id, 1, 'filling', 1, now(), now() - interval '1 day', 'w', 'failed' "
             "FROM finished_jobs WHERE kind = 'filling'",
             "INSERT INTO job_requests (id, content, answer, asked_at) "
             "SELECT gen_random_uuid(), gen_random_uuid(), '', now() FROM generate_series(1, 30000)",
             "INSERT INTO inbox (consumer, message_id, seen_at) "
             "SELECT 'filling', gen_random_uuid(), now() FROM generate_series(1, 30000)",
         }) {
      execute(*database_, text);
    }
    execute("ALTER TABLE job_service.finished_jobs ENABLE TRIGGER USER");
  }

  std::vector<NewJob> new_jobs(size_t count) {
    std::vector<NewJob> all;
    for (size_t i = 0; i < count; ++i) {
      NewJob one{.kind = i % 3 == 0 ? "spaced" : "limited", .payload = "{}"};
      if (i % 4 != 0) one.throttle_key = fmt::format("key {}", i / 2);
      if (i % 5 == 0) one.unique_key = fmt::format("key {}", i);
      if (i % 7 == 0) one.run_after = clock_.wall() + 20ms;
      one.priority = static_cast<int32_t>(i % 3);
      all.push_back(std::move(one));
    }
    return all;
  }

  std::vector<ClaimedJob> claim(std::vector<std::string> kinds, size_t limit = 100) {
    return run(store_->claim({"worker", std::move(kinds), limit}));
  }

  void end_in_all_ways(const std::vector<ClaimedJob>& claimed) {
    std::vector<jobs::Completion> completions;
    std::vector<jobs::Failure> failures;
    std::vector<jobs::LockedJob> locks{{JobId::make(clock_.wall(), random_), 1}};
    for (size_t i = 0; i < claimed.size(); ++i) {
      const jobs::LockedJob lock{claimed[i].id, claimed[i].token};
      locks.push_back(lock);
      if (i % 2 == 0) {
        completions.push_back({lock, std::nullopt, claimed[i].kind, claimed[i].throttle_key});
        if (i % 3 == 0) completions.back().throttle_key.reset();
        continue;
      }
      failures.push_back({.job = lock, .error = "it broke", .permanent = i % 3 == 0, .released = i % 5 == 0});
      if (failures.back().released) failures.back().onward = {.payload = "{}", .throttle_key = "another"};
    }
    run(store_->renew(locks));
    run(store_->complete(completions));
    run(store_->complete(completions));
    run(store_->fail(failures));
    run(store_->renew(locks));
  }

  void use_stores(size_t jobs_at_once) override {
    const std::vector<jobs::Enqueued> added = run(store_->enqueue(new_jobs(jobs_at_once)));
    run(store_->enqueue(new_jobs(jobs_at_once)));
    const messaging::MessageId message = messaging::MessageId::make(clock_.wall(), random_);
    run(store_->enqueue_once(message, new_jobs(2)));
    const jobs::EnqueueRequest request{Id<jobs::EnqueueRequestTag>::make(clock_.wall(), random_),
                                       Id<jobs::EnqueueContentTag>::make(clock_.wall(), random_)};
    run(store_->enqueue_for(request, new_jobs(2)));
    end_in_all_ways(claim({"limited"}));
    end_in_all_ways(claim({"limited", "spaced", "filling"}));
    // Some are due now, and some are lost.
    claim({"limited", "spaced"}, 10);
    const Instant end = clock_.now() + 100ms;
    while (clock_.now() < end) run(store_->tend());
    run(store_->cancel(added.back().id));
    for (const jobs::Job& dead : run(store_->list({"limited", jobs::JobStatus::dead}, std::nullopt, 1)).jobs) {
      run(store_->retry(dead.id));
    }
    run(store_->find(added.front().id));
    run(store_->purge(-1s, 100));
    run(store_->forget_requests(-1s, 100));
    run(store_->forget_idle_keys(100));
    sql::InboxRetention inbox(*database_, clock_, {.retention = -1s});
    run(inbox.remove_old());
  }

  const jobs::JobKinds kinds_{{{"limited", {.backoff = {.fixed = {20ms}}, .lock_ttl = 20ms}},
                               {"spaced", {.lock_ttl = 20ms, .throttle = {.concurrency = 3, .per_second = 100}}}}};
  std::unique_ptr<postgres::PostgresDatabase> database_;
  std::optional<sql::SqlJobStore> store_;
};

TEST_F(PostgresJobPlans, no_statement_reads_a_whole_table_that_grows) {
  expect_only_lookups(40);
}

TEST_F(PostgresJobPlans, a_claim_that_finds_jobs_runs_no_statement_before_it) {
  run(store_->enqueue({{.kind = "free", .payload = "{}"}, {.kind = "free", .payload = "{}"}}));
  take_plans();
  EXPECT_EQ(claim({"free"}, 1).size(), 1U);
  EXPECT_EQ(take_plans().size(), 1U);
}

TEST_F(PostgresJobPlans, statistics_do_not_read_all_jobs) {
  fill_tables();
  execute("ANALYZE");
  take_plans();
  run(store_->stats());
  for (const LoggedPlan& plan : take_plans()) {
    EXPECT_FALSE(plan.text.contains("Seq Scan on finished_jobs")) << plan.text;
    EXPECT_FALSE(plan.text.contains("Seq Scan on jobs")) << plan.text;
  }
}

TEST_F(PostgresJobPlans, many_jobs_are_counted_by_a_sample) {
  execute(
      *database_,
      "INSERT INTO jobs (id, kind, status, slot, priority, run_after, max_attempts, created_at, updated_at, payload) "
      "SELECT lpad(i::text, 32, '0')::uuid, 'many', 'queued', 0, 0, now() - i * interval '1 ms', 2, now(), now(), "
      "  to_json(repeat('x', 300)) FROM generate_series(1, 100000) AS i");
  const jobs::JobStats stats = run(store_->stats());
  ASSERT_EQ(stats.kinds.size(), 1U);
  EXPECT_NEAR(static_cast<double>(stats.kinds[0].counts.at(jobs::JobStatus::queued)), 100'000, 20'000);
  EXPECT_TRUE(stats.kinds[0].oldest_waiting);
}

// While a transaction is held open PostgreSQL keeps the index entries of all that was claimed and finished since.
TEST_F(PostgresJobPlans, beside_a_held_transaction_looks_for_lost_jobs_do_not_walk_over_finished_ones) {
  const LockSession holder(*server_);
  holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder.execute("SELECT count(*) FROM job_service.jobs");
  run(store_->enqueue(std::vector<NewJob>(5'000, {.kind = "limited", .payload = "{}"})));
  for (std::vector<ClaimedJob> claimed = claim({"limited"}, 1'000); !claimed.empty();) {
    std::vector<jobs::Completion> completions;
    for (const ClaimedJob& job : claimed) completions.push_back({{job.id, job.token}});
    run(store_->complete(completions));
    claimed = claim({"limited"}, 1'000);
  }
  size_t fewest_pages = SIZE_MAX;
  ASSERT_TRUE(eventually([&] {
    take_plans();
    run(store_->tend());
    for (const LoggedPlan& plan : take_plans()) {
      if (plan.text.contains("SELECT lock_expires_at FROM jobs")) fewest_pages = std::min(fewest_pages, pages_of(plan));
    }
    return fewest_pages < 30;
  })) << fewest_pages;
}

// The same for a throttle key: its jobs come and go, and a look at it must not pass all that ever had its slots.
TEST_F(PostgresJobPlans, jobs_of_a_throttle_key_that_are_not_due_are_passed_over) {
  const jobs::NewJob now{.kind = "limited", .payload = "{}", .throttle_key = "a key"};
  jobs::NewJob later = now;
  later.run_after = clock_.wall() + 1h;
  run(store_->enqueue(std::vector<jobs::NewJob>(5'000, later)));
  take_plans();
  run(store_->enqueue({later}));
  run(store_->enqueue({now}));
  const ClaimedJob job = claim({"limited"}, 1).at(0);
  run(store_->complete({{{job.id, job.token}, std::nullopt, job.kind, job.throttle_key}}));
  for (const LoggedPlan& plan : take_plans()) EXPECT_LT(pages_of(plan), 200U) << plan.text;
}

TEST_F(PostgresJobPlans, beside_a_held_transaction_a_throttle_key_costs_the_same_after_many_jobs) {
  const LockSession holder(*server_);
  holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder.execute("SELECT count(*) FROM job_service.jobs");
  const auto add_and_work_off = [&] {
    run(store_->enqueue({{.kind = "limited", .payload = "{}", .throttle_key = "a key"}}));
    const ClaimedJob job = claim({"limited"}, 1).at(0);
    run(store_->complete({{{job.id, job.token}, std::nullopt, job.kind, job.throttle_key}}));
  };
  for (int i = 0; i < 500; ++i) add_and_work_off();
  // The key is forgotten and made anew: its old versions are still in the index.
  EXPECT_EQ(run(store_->forget_idle_keys(100)), 1U);
  add_and_work_off();
  take_plans();
  add_and_work_off();
  for (const LoggedPlan& plan : take_plans()) {
    // A claim passes them once, in the unique index that guards the slots of running jobs.
    if (plan.text.contains("UPDATE jobs SET status = 'running'")) continue;
    EXPECT_LT(pages_of(plan), 60U) << plan.text;
  }
}

}  // namespace
}  // namespace sluice::test
