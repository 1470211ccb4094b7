// The state machine of jobs, held by the database itself: statements that the store would never make are refused.
#include "tests/contract/job_transitions_suite.h"

namespace sluice::test {

TEST_P(JobTransitionsContract, a_waiting_job_can_only_be_claimed_or_canceled) {
  const JobId id = add();
  EXPECT_FALSE(allowed(to_failed, id));
  EXPECT_FALSE(ends_as("succeeded", id));
  EXPECT_FALSE(ends_as("dead", id));
  EXPECT_EQ(status(id), queued);
  EXPECT_TRUE(ends_as("canceled", id));
  EXPECT_EQ(status(id), canceled);
}

TEST_P(JobTransitionsContract, a_failed_job_can_only_be_claimed_or_canceled) {
  const JobId id = failed_job();
  EXPECT_FALSE(allowed(to_queued, id));
  EXPECT_FALSE(ends_as("succeeded", id));
  EXPECT_FALSE(ends_as("dead", id));
  EXPECT_EQ(status(id), failed);
  EXPECT_TRUE(ends_as("canceled", id));
}

TEST_P(JobTransitionsContract, nothing_runs_without_a_new_lock_and_a_further_attempt) {
  const JobId id = add();
  EXPECT_FALSE(allowed(to_running, id));
  EXPECT_FALSE(allowed("UPDATE jobs SET status = 'running', lock_token = lock_token + 1 WHERE id = $1", id));
  EXPECT_FALSE(allowed(
      "UPDATE jobs SET status = 'running', lock_token = lock_token + 1, attempts = attempts + 1 WHERE id = $1", id));
  EXPECT_FALSE(allowed("UPDATE jobs SET lock_token = lock_token + 1 WHERE id = $1", id));
  EXPECT_EQ(status(id), queued);
}

TEST_P(JobTransitionsContract, a_running_job_ends_in_its_own_ways_only) {
  const JobId id = running_job();
  EXPECT_FALSE(allowed(to_queued, id));
  EXPECT_FALSE(ends_as("canceled", id));
  EXPECT_FALSE(ends_as("running", id));
  EXPECT_FALSE(allowed("UPDATE jobs SET lock_token = lock_token + 1 WHERE id = $1", id));
  EXPECT_FALSE(allowed("UPDATE jobs SET slot = NULL WHERE id = $1", id));
  EXPECT_EQ(status(id), running);
  EXPECT_TRUE(ends_as("dead", id));
  EXPECT_EQ(status(id), dead);
}

TEST_P(JobTransitionsContract, finished_is_final) {
  const JobId id = running_job();
  EXPECT_TRUE(ends_as("succeeded", id));
  EXPECT_FALSE(allowed("UPDATE finished_jobs SET status = 'dead' WHERE id = $1", id));
  EXPECT_FALSE(allowed("UPDATE finished_jobs SET result = '1' WHERE id = $1", id));
  EXPECT_FALSE(allowed(to_running, id));
  EXPECT_EQ(status(id), succeeded);
}

TEST_P(JobTransitionsContract, what_is_finished_begins_anew_only_if_it_is_dead_and_with_its_token) {
  const auto begins = [this](JobId id, const std::string& token) {
    const std::string text = fmt::format(
        "INSERT INTO jobs (id, kind, status, slot, priority, run_after, max_attempts, lock_token, created_at, "
        "updated_at, payload) VALUES ($1, 'kind', 'queued', 0, 0, now(), 1, {}, now(), now(), '{{}}')",
        token);
    return allowed(std::string_view(text), id);
  };
  const JobId done = running_job();
  EXPECT_TRUE(ends_as("succeeded", done));
  const JobId given_up = add();
  EXPECT_TRUE(ends_as("canceled", given_up));
  const JobId died = running_job();
  EXPECT_TRUE(ends_as("dead", died));
  add();  // younger than all of them
  EXPECT_FALSE(begins(done, "1"));
  EXPECT_FALSE(begins(given_up, "0"));
  EXPECT_FALSE(begins(died, "0"));
  EXPECT_TRUE(begins(died, "1"));
}

TEST_P(JobTransitionsContract, a_job_begins_queued_and_does_not_vanish) {
  EXPECT_FALSE(
      allowed("INSERT INTO jobs (id, kind, status, priority, run_after, max_attempts, created_at, updated_at, "
              "payload) VALUES ($1, 'kind', 'failed', 0, now(), 1, now(), now(), '{}')",
              make_id()));
  const JobId id = add();
  EXPECT_FALSE(allowed("DELETE FROM jobs WHERE id = $1", id));
  EXPECT_EQ(status(id), queued);
}

TEST_P(JobTransitionsContract, what_never_lived_is_not_finished) {
  EXPECT_FALSE(
      allowed("INSERT INTO finished_jobs (id, kind, status, priority, run_after, attempts, max_attempts, "
              "lock_token, created_at, finished_at, payload) "
              "VALUES ($1, 'kind', 'succeeded', 0, now(), 1, 1, 1, now(), now(), '{}')",
              make_id()));
}

TEST_P(JobTransitionsContract, two_jobs_never_run_in_one_slot) {
  constexpr sql::Statement start_in_slot_1 =
      "UPDATE jobs SET status = 'running', slot = 1, attempts = 1, lock_ttl = 1, locked_at = now(), locked_by = 'w', "
      "lock_expires_at = now(), lock_token = 1, slot_turn = coalesce((SELECT other.slot_turn FROM jobs AS other "
      "WHERE other.kind = jobs.kind AND other.slot = 1), 0) WHERE id = $1";
  use({.throttle = {.concurrency = 1}});
  add(job_of_key("a"));
  const JobId second = add(job_of_key("a"));
  const JobId first = claim_one().id;
  sql::Params params(second);
  EXPECT_THROW(run(database().write(start_in_slot_1, params)), sql::ConstraintViolation);
  EXPECT_EQ(status(second), queued);
  EXPECT_FALSE(allowed("UPDATE jobs SET slot = 0 WHERE id = $1", second));
  EXPECT_TRUE(ends_as("succeeded", first));
  EXPECT_TRUE(allowed(start_in_slot_1, second));
}

}  // namespace sluice::test
