#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_endings.h"
#include "adapters/sql/jobs/job_rows.h"
#include "adapters/sql/jobs/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;
using jobs::Verdict;

constexpr Statement lock_dead = R"(
    SELECT kind, throttle_key, unique_key FROM finished_jobs
    WHERE id = $1 AND status = 'dead' @lock(FOR UPDATE))"_sql;
constexpr Statement take_key = R"(
    INSERT INTO job_keys (kind, unique_key, job_id)
    SELECT kind, unique_key, id
    FROM finished_jobs WHERE id = $1
    ON CONFLICT DO NOTHING)"_sql;
constexpr Statement queue_again = sql_with<R"(
    INSERT INTO jobs (id, kind, status, slot, run_after, updated_at, throttle_key, last_error, @lasting)
    SELECT id, kind, 'queued', CASE WHEN throttle_key IS NULL THEN 0 END, now(), now(), throttle_key,
      last_error, @lasting
    FROM finished_jobs WHERE id = $1)",
                                           lasting>;
constexpr Statement remove_finished = "DELETE FROM finished_jobs WHERE id = $1";

constexpr Statement renew = R"(
    @given(id uuid, token bigint)
    UPDATE jobs SET lock_expires_at = now() + @us(lock_ttl), updated_at = now() @from_given
    WHERE @lookup(jobs.id = given.id)
      AND @lookup((CASE WHEN status = 'running' THEN lock_token END) = given.token)
    RETURNING jobs.id, jobs.lock_token)"_sql;
constexpr Statement find_refused = R"(
    @given(id uuid)
    SELECT given.id, found.running
    @from_each(SELECT status = 'running' AS running FROM jobs WHERE id = given.id
      UNION ALL SELECT false FROM finished_jobs WHERE id = given.id @by_index) AS found)"_sql;

TxTask<std::map<JobId, Verdict>> why_refused(Tx& tx, GivenRows ids) {
  const Rows rows = co_await execute_many(tx, find_refused, std::move(ids));
  std::map<JobId, Verdict> reasons;
  for (const Row& row : rows) {
    reasons[row.id<JobTag>(0)] = row.boolean(1) ? Verdict::stale_lock : Verdict::not_running;
  }
  co_return reasons;
}

}  // namespace

TxTask<std::optional<bool>> retry_job(Tx& tx, JobId id, EndingRules rules) {
  const Params key(id);
  const Rows dead = co_await tx.execute(lock_dead, key);
  if (dead.empty()) {
    GivenRows ids;
    ids.add(id);
    const std::map<JobId, Verdict> known = co_await why_refused(tx, std::move(ids));
    if (known.empty()) co_return std::nullopt;
    co_return false;
  }
  // The unique key first, then the throttle key: in the order in which jobs are added.
  const Row& job = dead.one();
  if (!job.is_null(2)) {
    const Rows taken = co_await tx.execute(take_key, key);
    if (taken.affected == 0) co_return false;
  }
  ThrottledKeys throttled;
  if (!job.is_null(1)) throttled.insert(throttled_key(*rules.kinds, job.text(0), job.text(1)));
  const LockedKeys keys = co_await lock_keys(tx, std::move(throttled));
  co_await tx.execute(queue_again, key);
  co_await tx.execute(remove_finished, key);
  co_await give_slots(tx, keys, WaitingJobs::more);
  co_return true;
}

TxTask<std::vector<Verdict>> renew_locks(Tx& tx, std::vector<jobs::LockedJob> jobs) {
  // Rows of jobs are locked in the order of ids, here and where jobs end, so that no deadlock arises.
  const std::set<jobs::LockedJob> ordered(jobs.begin(), jobs.end());
  GivenRows given;
  for (const jobs::LockedJob& job : ordered) given.add(job.id, job.token);
  const Rows renewed = co_await execute_many(tx, renew, std::move(given));
  std::set<jobs::LockedJob> accepted;
  for (const Row& row : renewed) accepted.insert({row.id<JobTag>(0), row.integer(1)});
  GivenRows refused;
  for (const jobs::LockedJob& job : jobs) {
    if (!accepted.contains(job)) refused.add(job.id);
  }
  const std::map<JobId, Verdict> reasons = co_await why_refused(tx, std::move(refused));
  std::vector<Verdict> verdicts;
  for (const jobs::LockedJob& job : jobs) {
    if (accepted.contains(job)) {
      verdicts.push_back(Verdict::accepted);
      continue;
    }
    const auto reason = reasons.find(job.id);
    verdicts.push_back(reason == reasons.end() ? Verdict::unknown : reason->second);
  }
  co_return verdicts;
}

}  // namespace sluice::sql
