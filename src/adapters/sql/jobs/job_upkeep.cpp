#include "adapters/sql/jobs/job_upkeep.h"

#include <algorithm>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::JobTag;

constexpr size_t at_once = 500;
constexpr size_t staged_at_once = 10'000;

// Each by its order, so that no plan prefers to look at all rows.
constexpr Statement look = R"(
    SELECT (SELECT lock_expires_at FROM jobs WHERE status = 'running' AND lock_expires_at > $1
        AND lock_expires_at <= now() ORDER BY lock_expires_at LIMIT 1),
      (SELECT run_after FROM jobs WHERE slot IS NULL AND throttle_key IS NULL AND run_after > $2
        ORDER BY run_after LIMIT 1),
      (SELECT look_at FROM throttle_states WHERE look_at IS NOT NULL AND look_at > $3 ORDER BY look_at LIMIT 1),
      now())"_sql;
constexpr Statement stage = R"(
    UPDATE jobs SET slot = 0, updated_at = now() WHERE @place @in(
      SELECT @place FROM jobs WHERE slot IS NULL AND throttle_key IS NULL AND run_after > $1 AND run_after <= $2
      ORDER BY run_after LIMIT $3 @lock(FOR UPDATE SKIP LOCKED))
    RETURNING run_after)"_sql;
constexpr Statement due_keys = R"(
    SELECT kind, throttle_key, look_at FROM throttle_states
    WHERE look_at IS NOT NULL AND look_at > $1 AND look_at <= $2 ORDER BY look_at LIMIT $3)"_sql;
constexpr Statement lost_locks = R"(
    SELECT id, lock_token, lock_expires_at FROM jobs
    WHERE status = 'running' AND lock_expires_at > $1 AND lock_expires_at <= $2
    ORDER BY lock_expires_at LIMIT $3)"_sql;
// In the order of ids, which have an index; old ones stand before young ones but for jobs that waited long.
constexpr Statement find_old = R"(
    SELECT id FROM finished_jobs WHERE id > $2 AND id < $3 AND finished_at < now() - @us($1)
    ORDER BY id LIMIT $4 @lock(FOR UPDATE SKIP LOCKED))"_sql;
constexpr Statement remove_attempts = R"(
    @given(id uuid)
    DELETE FROM job_attempts @using_given WHERE @lookup(job_attempts.job_id = given.id))"_sql;
constexpr Statement remove_jobs = R"(
    @given(id uuid)
    DELETE FROM finished_jobs @using_given WHERE @lookup(finished_jobs.id = given.id))"_sql;

// How far rows in the order of a time reach, of which at most `most` were asked for up to `now`. Others may have the
// time of the last.
Time reached_by(const Rows& rows, size_t column, size_t most, Time now) {
  if (rows.size() < most) return now;
  Time last{};
  for (const Row& row : rows) last = std::max(last, row.time(column));
  return last - 1us;
}

// PostgreSQL only. Enough for 8,000 statements a second that finish jobs, once a minute.
constexpr Statement add_up_counts = R"(
    WITH old AS (DELETE FROM finished_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM finished_counts WHERE at < now() - interval '2 minutes'
        ORDER BY at LIMIT 500000 FOR UPDATE SKIP LOCKED))
      RETURNING kind, status, jobs)
    INSERT INTO finished_counts (kind, status, at, jobs)
    SELECT kind, status, to_timestamp(0), sum(jobs) FROM old GROUP BY kind, status)"_sql;

}  // namespace

std::optional<Time> Upkeep::next() const {
  std::optional<Time> first;
  for (const std::optional<Time>& time : {next_scheduled, next_key}) {
    if (time && *time > now && (!first || *time < *first)) first = time;
  }
  return first;
}

Task<Upkeep> look_for_upkeep(Database& database, UpkeepPlaces after) {
  Params params(after.locks, after.scheduled, after.keys);
  const Rows rows = co_await database.read(look, std::move(params));
  const Row& row = rows.one();
  co_return Upkeep{!row.is_null(0), row.optional_time(1), row.optional_time(2), row.time(3)};
}

TxTask<UpkeepPart> stage_due(Tx& tx, Time after, Time now) {
  const Rows staged = co_await tx.execute(stage, Params(after, now, staged_at_once));
  co_return UpkeepPart{staged.size(), reached_by(staged, 0, staged_at_once, now)};
}

TxTask<UpkeepPart> tend_keys(Tx& tx, Time after, Time now, EndingRules rules) {
  const Rows rows = co_await tx.execute(due_keys, Params(after, now, at_once));
  ThrottledKeys keys;
  for (const Row& row : rows) keys.insert(throttled_key(*rules.kinds, row.text(0), row.text(1)));
  // A key that another transaction has locked is dealt with there.
  LockedKeys locked = co_await lock_free_keys(tx, std::move(keys));
  co_await give_slots(tx, std::move(locked), WaitingJobs::as_locked);
  co_return UpkeepPart{rows.size(), reached_by(rows, 2, at_once, now)};
}

Task<LostJobs> find_lost(Database& database, Time after, Time now) {
  Params params(after, now, at_once);
  const Rows rows = co_await database.read(lost_locks, std::move(params));
  LostJobs lost{.reached = reached_by(rows, 2, at_once, now)};
  for (const Row& row : rows) {
    lost.endings.push_back({.job = {row.id<JobTag>(0), row.integer(1)},
                            .how = jobs::Ending::How::lost,
                            .error = "the worker stopped responding"});
  }
  co_return lost;
}

TxTask<std::vector<jobs::JobId>> purge_finished(Tx& tx, OldJobs old, size_t most) {
  const Rows rows = co_await tx.execute(find_old, Params(old.age.count(), old.after, old.before, most));
  std::vector<jobs::JobId> purged;
  GivenRows ids;
  for (const Row& row : rows) {
    purged.push_back(row.id<JobTag>(0));
    ids.add(purged.back());
  }
  co_await execute_many(tx, remove_attempts, ids);
  co_await execute_many(tx, remove_jobs, ids);
  if (tx.dialect() == Dialect::postgres) co_await tx.execute(add_up_counts);
  co_return purged;
}

jobs::JobId first_id_at(Time time) {
  const auto millis =
      static_cast<uint64_t>(std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count());
  Uuid uuid;
  for (size_t i = 0; i < 6; ++i) uuid.bytes[i] = static_cast<uint8_t>(millis >> (40 - 8 * i));
  return jobs::JobId(uuid);
}

}  // namespace sluice::sql
