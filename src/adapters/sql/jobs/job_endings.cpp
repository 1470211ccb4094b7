#include "adapters/sql/jobs/job_endings.h"

#include <algorithm>
#include <map>
#include <set>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_rows.h"
#include "adapters/sql/jobs/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::Ending;
using jobs::FailVerdict;
using jobs::JobFate;
using jobs::JobId;
using jobs::JobStatus;
using jobs::JobTag;
using jobs::LiveJob;
using jobs::Verdict;

// Writing a job among the finished ones takes it out of the live ones: the database itself sees to that, and refuses
// what may not end so. Without a lock: whoever changes one of the jobs just now makes the database refuse the
// statement.
constexpr Statement end_succeeded = sql_with<R"(
    @given(id uuid, token bigint, kind text, throttle_key text, result json)
    INSERT INTO finished_jobs (id, kind, status, run_after, attempts, locked_at, finished_at, locked_by,
      throttle_key, last_error, result, @lasting)
    SELECT ended.id, ended.kind, 'succeeded', run_after, attempts, locked_at, now(), locked_by,
      ended.throttle_key, last_error, given.result, @lasting
    @from_each(SELECT * FROM jobs WHERE id = given.id @by_index) AS ended
    WHERE lock_token = given.token AND status = 'running'
      AND CASE WHEN given.throttle_key IS NULL THEN ended.throttle_key IS NULL
        ELSE ended.throttle_key = given.throttle_key AND ended.kind = given.kind END)",
                                             lasting>;
constexpr Statement find_ended = R"(
    @given(id uuid, token bigint)
    SELECT given.id, given.token
    @from_each(SELECT lock_token, status FROM finished_jobs WHERE id = given.id @by_index) AS ended
    WHERE ended.lock_token = given.token AND ended.status = 'succeeded')"_sql;
constexpr Statement end_any = sql_with<R"(
    @given(id uuid, status text, error text, result json)
    INSERT INTO finished_jobs (id, kind, status, run_after, attempts, locked_at, finished_at, locked_by,
      throttle_key, last_error, result, @lasting)
    SELECT ended.id, kind, given.status, run_after, attempts, locked_at, now(), locked_by, throttle_key,
      coalesce(given.error, last_error), given.result, @lasting
    @from_each(SELECT * FROM jobs WHERE id = given.id @by_index) AS ended)",
                                       lasting>;
constexpr Statement find_throttle_keys = R"(
    @given(id uuid)
    SELECT given.id, kind, throttle_key
    @from_each(SELECT kind, throttle_key FROM jobs WHERE id = given.id @by_index) AS found)"_sql;
constexpr SqlPart locked_columns{
    "locked_columns", "locked.id, kind, unique_key, status, lock_token, attempts, max_attempts, throttle_key"};
constexpr Statement lock_jobs = sql_with<R"(
    @given(id uuid)
    SELECT @locked_columns, coalesce(lock_expires_at <= now(), false)
    @from_each(SELECT * FROM jobs WHERE id = given.id @lock(FOR UPDATE)) AS locked)",
                                         locked_columns>;
constexpr Statement find_finished = R"(
    @given(id uuid)
    SELECT found.id
    @from_each(SELECT id FROM finished_jobs WHERE id = given.id @by_index) AS found)"_sql;
constexpr Statement write_attempts = R"(
    @given(id uuid, outcome text, error text)
    INSERT INTO job_attempts (job_id, lock_token, kind, throttle_key, number, started_at, ended_at, worker,
      outcome, error)
    SELECT tried.id, lock_token, kind, throttle_key, attempts, locked_at, now(), locked_by, given.outcome,
      given.error
    @from_each(SELECT * FROM jobs WHERE id = given.id @by_index) AS tried)"_sql;
constexpr Statement postpone = R"(
    @given(id uuid, delay bigint, error text, taken_back bigint)
    UPDATE jobs SET status = 'failed', attempts = attempts - given.taken_back,
      slot = CASE WHEN throttle_key IS NULL AND given.delay <= 0 THEN 0 END,
      run_after = now() + @us(given.delay), last_error = given.error,
      locked_at = NULL, locked_by = NULL, lock_expires_at = NULL, updated_at = now()
    @from_given
    WHERE @lookup(jobs.id = given.id))"_sql;
constexpr Statement hand_on = R"(
    @given(id uuid, payload json, throttle_key text, error text)
    UPDATE jobs SET status = 'failed', attempts = attempts - 1, slot = NULL, run_after = now(),
      payload = given.payload, throttle_key = given.throttle_key, last_error = given.error,
      locked_at = NULL, locked_by = NULL, lock_expires_at = NULL, updated_at = now()
    @from_given
    WHERE @lookup(jobs.id = given.id))"_sql;
constexpr Statement free_unique_keys = R"(
    @given(kind text, unique_key text, id uuid)
    DELETE FROM job_keys @using_given
    WHERE @lookup(job_keys.kind = given.kind AND job_keys.unique_key = given.unique_key)
      AND @lookup(job_keys.job_id = given.id))"_sql;

using LiveJobs = std::map<JobId, LiveJob>;

GivenRows given_ids(const std::set<JobId>& ids) {
  GivenRows rows;
  for (const JobId& id : ids) rows.add(id);
  return rows;
}

using Targets = std::map<JobId, std::string>;  // throttle keys that jobs are handed on to

// The throttle keys first: see job_slots.h.
TxTask<LockedKeys> lock_keys_of(Tx& tx, std::set<JobId> ids, EndingRules rules, Targets targets = {}) {
  const Rows rows = co_await execute_many(tx, find_throttle_keys, given_ids(ids));
  ThrottledKeys keys;
  for (const Row& row : rows) {
    if (const auto key = row.optional_text(2)) keys.insert(throttled_key(*rules.kinds, row.text(1), *key));
    const auto target = targets.find(row.id<JobTag>(0));
    if (target != targets.end()) keys.insert(throttled_key(*rules.kinds, row.text(1), target->second));
  }
  LockedKeys locked = co_await lock_keys(tx, std::move(keys));
  co_return locked;
}

TxTask<LiveJobs> lock_live(Tx& tx, std::set<JobId> ids) {
  const Rows rows = co_await execute_many(tx, lock_jobs, given_ids(ids));
  LiveJobs live;
  for (const Row& row : rows) {
    LiveJob job{.id = row.id<JobTag>(locked_columns["locked.id"]),
                .kind = row.text(locked_columns["kind"]),
                .unique_key = row.optional_text(locked_columns["unique_key"]),
                .running = row.text(locked_columns["status"]) == "running",
                .token = row.integer(locked_columns["lock_token"]),
                .attempts = static_cast<int32_t>(row.integer(locked_columns["attempts"])),
                .max_attempts = static_cast<int32_t>(row.integer(locked_columns["max_attempts"])),
                .lock_expired = row.boolean(locked_columns.size()),
                .throttle_key = row.optional_text(locked_columns["throttle_key"])};
    live.emplace(job.id, std::move(job));
  }
  co_return live;
}

// Adds those that jobs were handed on to before we had them. Locked out of order: where that meets somebody, one of us
// begins again.
TxTask<LockedKeys> lock_late(Tx& tx, LockedKeys keys, LiveJobs live, EndingRules rules) {
  ThrottledKeys late;
  for (const auto& [id, job] : live) {
    if (job.throttle_key) late.insert(throttled_key(*rules.kinds, job.kind, *job.throttle_key));
  }
  for (const LockedKey& locked : keys) late.erase(locked.key);
  const LockedKeys more = co_await lock_keys(tx, std::move(late));
  keys.insert(keys.end(), more.begin(), more.end());
  co_return keys;
}

TxTask<std::set<JobId>> finished_among(Tx& tx, std::set<JobId> ids) {
  const Rows rows = co_await execute_many(tx, find_finished, given_ids(ids));
  std::set<JobId> found;
  for (const Row& row : rows) found.insert(row.id<JobTag>(0));
  co_return found;
}

// The statements' rows for a number of endings.
class Changes {
 public:
  explicit Changes(EndingRules rules) : rules_(rules) {}

  // Whether the job is dead.
  bool end(const LiveJob& job, const Ending& ending) {
    const JobFate fate = fate_of(job, ending, rules_.kinds->of(job.kind).backoff, *rules_.random);
    if (fate.attempt) attempts_.add(job.id, *fate.attempt, ending.error);
    add(job, fate, ending);
    return fate.status == JobStatus::dead;
  }
  void cancel(const LiveJob& job) { add(job, jobs::fate_of_canceled(), {}); }

  // Attempts before anything else: they are read off the jobs as they are.
  TxTask<> write(Tx& tx) {
    co_await execute_many(tx, write_attempts, attempts_);
    co_await execute_many(tx, end_any, ended_);
    co_await execute_many(tx, postpone, postponed_);
    co_await execute_many(tx, hand_on, handed_on_);
    co_await execute_many(tx, free_unique_keys, freed_keys_);
  }

 private:
  void add(const LiveJob& job, const JobFate& fate, const Ending& ending) {
    switch (fate.next) {
      case JobFate::Next::finished: add_finished(job, fate, ending); break;
      case JobFate::Next::waits:
        postponed_.add(job.id, fate.delay.count(), ending.error, fate.takes_try_back ? 1 : 0);
        break;
      case JobFate::Next::handed_on:
        handed_on_.add(job.id, ending.onward->payload, ending.onward->throttle_key, ending.error);
        break;
    }
    if (fate.frees_unique_key && job.unique_key) freed_keys_.add(job.kind, *job.unique_key, job.id);
  }
  void add_finished(const LiveJob& job, const JobFate& fate, const Ending& ending) {
    std::optional<std::string> error;
    if (fate.status == JobStatus::dead) error = ending.error;
    ended_.add(job.id, enum_name(fate.status), error, ending.result);
  }

  EndingRules rules_;
  GivenRows attempts_;
  GivenRows ended_;
  GivenRows postponed_;
  GivenRows handed_on_;
  GivenRows freed_keys_;
};

// Those of the completions that were written just now, which are so many.
TxTask<std::vector<jobs::LockedJob>> ended_among(Tx& tx, std::vector<jobs::Completion> completions, int64_t count) {
  std::vector<jobs::LockedJob> ended;
  if (count == 0) co_return ended;
  ended.reserve(completions.size());
  if (static_cast<size_t>(count) == completions.size()) {
    for (const jobs::Completion& completion : completions) ended.push_back(completion.job);
    co_return ended;
  }
  // To have each come back would cost more than to look for them here: nearly always all of them are ended.
  GivenRows locks;
  for (const jobs::Completion& completion : completions) locks.add(completion.job.id, completion.job.token);
  const Rows found = co_await execute_many(tx, find_ended, std::move(locks));
  // Some had been finished before: which, can't be told now.
  if (static_cast<int64_t>(found.size()) != count) {
    throw ConstraintViolation(ConstraintViolation::Kind::unique, "finished_jobs");
  }
  for (const Row& row : found) ended.push_back({row.id<JobTag>(0), row.integer(1)});
  co_return ended;
}

}  // namespace

TxTask<std::vector<jobs::LockedJob>> end_succeeded_jobs(Tx& tx, std::vector<jobs::Completion> completions,
                                                        EndingRules rules) {
  ThrottledKeys keys;
  GivenRows given;
  std::ranges::sort(completions, {}, &jobs::Completion::job);  // the order in which all lock jobs
  for (const jobs::Completion& completion : completions) {
    const auto& [job, result, kind, throttle_key] = completion;
    if (throttle_key) keys.insert(throttled_key(*rules.kinds, kind, *throttle_key));
    given.add(job.id, job.token, kind, throttle_key, result);
  }
  LockedKeys locked = co_await lock_known_keys(tx, std::move(keys));
  const Rows done = co_await execute_many(tx, end_succeeded, std::move(given));
  std::vector<jobs::LockedJob> ended = co_await ended_among(tx, std::move(completions), done.affected);
  // The freed slots are for those that wait.
  std::erase_if(locked, [](const LockedKey& key) { return !key.state.waits; });
  co_await give_slots(tx, std::move(locked), WaitingJobs::as_locked);
  co_return ended;
}

TxTask<std::vector<FailVerdict>> end_jobs(Tx& tx, std::vector<Ending> endings, EndingRules rules) {
  std::set<JobId> ids;
  Targets targets;
  for (const Ending& ending : endings) {
    ids.insert(ending.job.id);
    if (ending.onward) targets.emplace(ending.job.id, ending.onward->throttle_key);
  }
  const LockedKeys keys = co_await lock_keys_of(tx, ids, rules, std::move(targets));
  LiveJobs live = co_await lock_live(tx, ids);
  for (const auto& [id, job] : live) ids.erase(id);
  const std::set<JobId> finished = co_await finished_among(tx, std::move(ids));

  std::vector<FailVerdict> verdicts;
  Changes changes(rules);
  for (const Ending& ending : endings) {
    FailVerdict& verdict = verdicts.emplace_back();
    const auto found = live.find(ending.job.id);
    if (found == live.end()) {
      verdict.verdict = finished.contains(ending.job.id) ? Verdict::not_running : Verdict::unknown;
      continue;
    }
    verdict.verdict = verdict_on(found->second, ending);
    if (verdict.verdict != Verdict::accepted) continue;
    verdict.dead = changes.end(found->second, ending);
    // Whoever names it a second time comes too late.
    found->second.running = false;
  }
  co_await changes.write(tx);
  co_await give_slots(tx, keys, WaitingJobs::more);
  co_return verdicts;
}

TxTask<std::optional<bool>> cancel_job(Tx& tx, JobId id, EndingRules rules) {
  const std::set<JobId> ids{id};
  LockedKeys keys = co_await lock_keys_of(tx, ids, rules);
  const LiveJobs live = co_await lock_live(tx, ids);
  keys = co_await lock_late(tx, std::move(keys), live, rules);
  if (live.empty()) {
    const std::set<JobId> finished = co_await finished_among(tx, ids);
    if (finished.empty()) co_return std::nullopt;
    co_return false;
  }
  const LiveJob& job = live.begin()->second;
  if (job.running) co_return false;
  Changes changes(rules);
  changes.cancel(job);
  co_await changes.write(tx);
  co_await give_slots(tx, keys, WaitingJobs::more);
  co_return true;
}

TxTask<size_t> cancel_waiting(Tx& tx, std::set<JobId> ids, EndingRules rules) {
  LockedKeys keys = co_await lock_keys_of(tx, ids, rules);
  const LiveJobs live = co_await lock_live(tx, ids);
  keys = co_await lock_late(tx, std::move(keys), live, rules);
  Changes changes(rules);
  size_t canceled = 0;
  for (const auto& [id, job] : live) {
    if (job.running) continue;
    changes.cancel(job);
    ++canceled;
  }
  co_await changes.write(tx);
  co_await give_slots(tx, keys, WaitingJobs::more);
  co_return canceled;
}

}  // namespace sluice::sql
