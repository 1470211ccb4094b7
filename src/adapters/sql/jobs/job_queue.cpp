#include "adapters/sql/jobs/job_queue.h"

#include <algorithm>
#include <map>
#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/jobs/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::Enqueued;
using jobs::JobId;
using jobs::JobTag;

// Each waits for whoever adds or frees the same key just now.
constexpr Statement take_keys{
    Statement::PerDialect{.postgres = "INSERT INTO job_keys (kind, unique_key, job_id) SELECT kind, unique_key, id "
                                      "FROM unnest($1::text[], $2::text[], $3::uuid[]) AS given (kind, unique_key, id) "
                                      "ON CONFLICT DO NOTHING RETURNING kind, unique_key",
                          .sqlite = "INSERT INTO job_keys (kind, unique_key, job_id) VALUES ($1, $2, $3) "
                                    "ON CONFLICT DO NOTHING RETURNING kind, unique_key"}};
constexpr Statement find_keys{Statement::PerDialect{
    .postgres = R"(
        SELECT given.kind, given.unique_key, owner.job_id
        FROM unnest($1::text[], $2::text[]) AS given (kind, unique_key)
        CROSS JOIN LATERAL (SELECT job_id FROM job_keys
          WHERE kind = given.kind AND unique_key = given.unique_key OFFSET 0) AS owner)",
    .sqlite = "SELECT kind, unique_key, job_id FROM job_keys WHERE kind = $1 AND unique_key = $2"}};
// What is due and has no throttle key may be claimed at once.
constexpr Statement add_jobs{Statement::PerDialect{.postgres = R"(
        INSERT INTO jobs (id, kind, status, slot, priority, run_after, max_attempts, created_at, updated_at,
          throttle_key, unique_key, payload)
        SELECT id, kind, 'queued',
          CASE WHEN throttle_key IS NOT NULL THEN slot WHEN coalesce(run_after <= now(), true) THEN 0 END,
          priority, greatest(coalesce(run_after, now()), not_before), max_attempts, now(), now(), throttle_key,
          unique_key, payload
        FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[], $6::text[], $7::text[],
            $8::text[]::json[], $9::bigint[], $10::timestamptz[])
          AS given (id, kind, priority, run_after, max_attempts, throttle_key, unique_key, payload, slot, not_before))",
                                                   .sqlite = R"(
        INSERT INTO jobs (id, kind, status, slot, priority, run_after, max_attempts, created_at, updated_at,
          throttle_key, unique_key, payload)
        VALUES ($1, $2, 'queued',
          CASE WHEN $6 IS NOT NULL THEN $9 WHEN coalesce($4 <= now(), true) THEN 0 END,
          $3, max(coalesce($4, now()), coalesce($10, 0)), $5, now(), now(), $6, $7, $8))"}};

using UniqueKey = std::pair<std::string, std::string>;  // kind, key
using KeyOwners = std::map<UniqueKey, JobId>;  // in the order in which keys are taken: nobody waits in a circle

// Which job has each key; where nobody had it, the first of `jobs` that wants it.
TxTask<KeyOwners> settle_keys(Tx& tx, PreparedJobs jobs) {
  KeyOwners wanted;
  for (const PreparedJob& prepared : *jobs) {
    if (prepared.job.unique_key) wanted.try_emplace({prepared.job.kind, *prepared.job.unique_key}, prepared.id);
  }
  KeyOwners owners;
  while (!wanted.empty()) {
    GivenRows taking;
    for (const auto& [key, id] : wanted) taking.add(key.first, key.second, id);
    const Rows taken = co_await execute_many(tx, take_keys, std::move(taking));
    for (const Row& row : taken) owners.insert(wanted.extract({row.text(0), row.text(1)}));
    GivenRows others;
    for (const auto& [key, id] : wanted) others.add(key.first, key.second);
    // One whose owner has just died is nobody's by now, and is tried again.
    const Rows found = co_await execute_many(tx, find_keys, std::move(others));
    for (const Row& row : found) {
      const UniqueKey key(row.text(0), row.text(1));
      owners.emplace(key, row.id<JobTag>(2));
      wanted.erase(key);
    }
  }
  co_return owners;
}

Enqueued owner_of(const PreparedJob& prepared, const KeyOwners& owners) {
  if (!prepared.job.unique_key) return {prepared.id};
  const JobId owner = owners.at({prepared.job.kind, *prepared.job.unique_key});
  return {owner, owner != prepared.id};
}

using AddedJobs = std::vector<const PreparedJob*>;

ThrottledKeys throttle_keys_of(const AddedJobs& added) {
  ThrottledKeys keys;
  for (const PreparedJob* one : added) {
    if (one->job.throttle_key) keys.insert({one->job.kind, *one->job.throttle_key, one->slots, one->gap_us});
  }
  return keys;
}

// Only the database knows which times have come: a key with a job that names one gets its slots given after the jobs
// are written, the others before.
struct Parties {
  LockedKeys due;
  Newcomers newcomers;  // of `due`
  LockedKeys timed;
};

Parties parties_of(const AddedJobs& added, const LockedKeys& keys) {
  Parties parties;
  std::set<KeyName> timed;
  for (const PreparedJob* one : added) {
    if (!one->job.throttle_key) continue;
    const KeyName name(one->job.kind, *one->job.throttle_key);
    if (one->job.run_after) timed.insert(name);
    parties.newcomers[name].push_back({.id = one->id, .priority = one->job.priority, .stored = false});
  }
  for (auto& [name, seekers] : parties.newcomers) {
    std::ranges::sort(seekers, {}, [](const SlotSeeker& one) { return std::pair(one.priority, one.id); });
  }
  for (const LockedKey& locked : keys) {
    const KeyName name(locked.key.kind, locked.key.throttle_key);
    if (timed.contains(name)) parties.newcomers.erase(name);
    (timed.contains(name) ? parties.timed : parties.due).push_back(locked);
  }
  return parties;
}

GivenRows rows_of(const AddedJobs& added, const std::map<JobId, SlotGiven>& slots) {
  GivenRows rows;
  for (const PreparedJob* one : added) {
    const jobs::NewJob& job = one->job;
    const auto found = slots.find(one->id);
    const bool has_slot = found != slots.end();
    rows.add(one->id, job.kind, job.priority, job.run_after, job.max_attempts, job.throttle_key, job.unique_key,
             job.payload, has_slot ? std::optional(found->second.slot) : std::nullopt,
             has_slot ? found->second.not_before : std::nullopt);
  }
  return rows;
}

}  // namespace

PreparedJobs prepare_jobs(std::vector<jobs::NewJob> jobs, const jobs::JobKinds& kinds, Time now, Random& random) {
  std::vector<JobId> ids(jobs.size());
  SeededRandom fast(random.next());
  for (JobId& id : ids) id = JobId::make(now, fast);
  std::ranges::sort(ids);
  auto prepared = std::make_shared<std::vector<PreparedJob>>();
  prepared->reserve(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs::NewJob& job = jobs[i];
    if (!job.max_attempts) job.max_attempts = kinds.of(job.kind).max_attempts;
    const ThrottledKey key = throttled_key(kinds, job.kind, "");
    prepared->push_back({ids[i], std::move(job), key.slots, key.gap_us});
  }
  return prepared;
}

TxTask<std::vector<Enqueued>> enqueue_jobs(Tx& tx, PreparedJobs jobs) {
  const KeyOwners owners = co_await settle_keys(tx, jobs);
  std::vector<Enqueued> answers;
  AddedJobs added;
  for (const PreparedJob& prepared : *jobs) {
    answers.push_back(owner_of(prepared, owners));
    if (!answers.back().duplicate) added.push_back(&prepared);
  }
  const LockedKeys keys = co_await lock_keys(tx, throttle_keys_of(added));
  const Parties parties = parties_of(added, keys);
  SlotsGiven given = co_await give_slots_to(tx, parties.due, parties.newcomers);
  co_await execute_many(tx, add_jobs, rows_of(added, given.newcomers));
  co_await set_looks(tx, parties.due, std::move(given.looks));
  co_await give_slots(tx, parties.timed);
  co_return answers;
}

}  // namespace sluice::sql
