#include "adapters/sql/jobs/job_queue.h"

#include <algorithm>
#include <map>
#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_rows.h"
#include "adapters/sql/jobs/job_slots.h"

namespace sluice::sql {
namespace {

using jobs::Enqueued;
using jobs::JobId;
using jobs::JobTag;

// Each waits for whoever adds or frees the same key just now.
constexpr Statement take_keys = R"(
    @given(kind text, unique_key text, id uuid)
    INSERT INTO job_keys (kind, unique_key, job_id)
    @values(given.kind, given.unique_key, given.id)
    ON CONFLICT DO NOTHING
    RETURNING kind, unique_key)"_sql;
constexpr Statement find_keys = R"(
    @given(kind text, unique_key text)
    SELECT given.kind, given.unique_key, owner.job_id
    @from_each(SELECT job_id FROM job_keys
      WHERE kind = given.kind AND unique_key = given.unique_key @by_index) AS owner)"_sql;

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

Newcomers newcomers_of(const AddedJobs& added) {
  Newcomers newcomers;
  for (const PreparedJob* one : added) {
    const jobs::NewJob& job = one->job;
    if (job.throttle_key) newcomers[{job.kind, *job.throttle_key}].push_back({one->id, job.priority, job.run_after});
  }
  return newcomers;
}

GivenRows rows_of(const AddedJobs& added, const std::map<JobId, SlotGiven>& slots) {
  GivenRows rows;
  for (const PreparedJob* one : added) {
    const auto found = slots.find(one->id);
    if (found == slots.end()) {
      add_row(rows, *one, std::nullopt, std::nullopt, std::nullopt);
    } else {
      add_row(rows, *one, found->second.slot, found->second.turn, found->second.not_before);
    }
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
  SlotsGiven given = co_await give_slots_to(tx, keys, newcomers_of(added));
  co_await execute_many(tx, add_jobs, rows_of(added, given.newcomers));
  co_await change_states(tx, keys, std::move(given.changes));
  co_return answers;
}

}  // namespace sluice::sql
