#include "adapters/sql/job_upkeep.h"

#include <algorithm>

#include "adapters/sql/given_rows.h"
#include "adapters/sql/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::JobTag;

constexpr size_t at_once = 500;
constexpr size_t staged_at_once = 10'000;

constexpr Statement look =
    "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running' AND lock_expires_at <= now()), "
    "  (SELECT min(run_after) FROM jobs WHERE slot IS NULL AND throttle_key IS NULL), "
    "  (SELECT min(look_at) FROM throttle_keys WHERE look_at IS NOT NULL), now()";
constexpr Statement stage{Statement::PerDialect{
    .postgres = "UPDATE jobs SET slot = 0, updated_at = now() WHERE ctid = ANY (ARRAY("
                "  SELECT ctid FROM jobs WHERE slot IS NULL AND throttle_key IS NULL AND run_after <= now() "
                "  ORDER BY run_after LIMIT $1 FOR UPDATE SKIP LOCKED))",
    .sqlite = "UPDATE jobs SET slot = 0, updated_at = now() WHERE id IN ("
              "  SELECT id FROM jobs WHERE slot IS NULL AND throttle_key IS NULL AND run_after <= now() "
              "  ORDER BY run_after LIMIT $1)"}};
constexpr Statement due_keys =
    "SELECT kind, throttle_key FROM throttle_keys WHERE look_at IS NOT NULL AND look_at <= now() "
    "ORDER BY look_at LIMIT $1";
constexpr Statement spent =
    "SELECT id, lock_token FROM jobs WHERE status = 'running' AND lock_expires_at <= now() "
    "  AND attempts >= max_attempts ORDER BY lock_expires_at LIMIT $1";
// In the order of ids, which have an index; old ones stand before young ones but for jobs that waited long.
constexpr Statement find_old{
    Statement::PerDialect{.postgres = "SELECT id FROM finished_jobs WHERE id > $2 AND id < $3 "
                                      "  AND finished_at < now() - $1::bigint * interval '1 microsecond' "
                                      "ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED",
                          .sqlite = "SELECT id FROM finished_jobs WHERE id > $2 AND id < $3 "
                                    "  AND finished_at < now() - $1 ORDER BY id LIMIT $4"}};
constexpr Statement remove_attempts{
    Statement::PerDialect{.postgres = "DELETE FROM job_attempts WHERE job_id = ANY ($1::uuid[])",
                          .sqlite = "DELETE FROM job_attempts WHERE job_id = $1"}};
constexpr Statement remove_jobs{
    Statement::PerDialect{.postgres = "DELETE FROM finished_jobs WHERE id = ANY ($1::uuid[])",
                          .sqlite = "DELETE FROM finished_jobs WHERE id = $1"}};

}  // namespace

std::optional<Time> Upkeep::next() const {
  if (!next_scheduled || !next_key) return next_scheduled ? next_scheduled : next_key;
  return std::min(*next_scheduled, *next_key);
}

Task<Upkeep> look_for_upkeep(Database& database) {
  const Rows rows = co_await database.read(look);
  const Row& row = rows.one();
  co_return Upkeep{row.boolean(0), row.optional_time(1), row.optional_time(2), row.time(3)};
}

TxTask<size_t> stage_due(Tx& tx) {
  const Rows staged = co_await tx.execute(stage, Params(staged_at_once));
  co_return static_cast<size_t>(staged.affected);
}

TxTask<size_t> tend_keys(Tx& tx, EndingRules rules) {
  const Rows rows = co_await tx.execute(due_keys, Params(at_once));
  ThrottledKeys keys;
  for (const Row& row : rows) keys.insert(throttled_key(*rules.kinds, row.text(0), row.text(1)));
  if (!keys.empty()) {
    co_await lock_keys(tx, keys);
    co_await give_slots(tx, keys);
  }
  co_return keys.size();
}

Task<std::vector<Ending>> find_spent(Database& database) {
  Params params(at_once);
  const Rows rows = co_await database.read(spent, std::move(params));
  std::vector<Ending> endings;
  for (const Row& row : rows) {
    endings.push_back({.job = {row.id<JobTag>(0), row.integer(1)},
                       .how = Ending::How::lost,
                       .error = "the worker was heard of no more"});
  }
  co_return endings;
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
