// The columns of `jobs` and `finished_jobs`: how a job is added, what finishing and reviving it keep, how it is read.
//
// A new column that producers set is one more name in `lasting` and `shown`, in `add_jobs` with `add_row`, and in
// `job_of`; no other statement names it. Its migrations add it to both tables.
#pragma once

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_queue.h"
#include "jobs/job.h"

namespace sluice::sql {

// Columns that a job keeps when it is finished and when it is revived.
inline constexpr SqlPart lasting{"lasting", "priority, max_attempts, lock_token, created_at, unique_key, payload"};

// Columns of both tables that a view of a job begins with.
inline constexpr SqlPart shown{
    "shown",
    "id, kind, unique_key, priority, status, attempts, max_attempts, run_after, locked_at, locked_by, throttle_key, "
    "last_error, created_at, lock_token"};
// All columns of a view, for `job_of`.
inline constexpr SqlPart live_view{
    "live_view", "@shown, CAST(payload AS text), CAST(NULL AS text), updated_at, CAST(NULL AS timestamptz)"};
inline constexpr SqlPart finished_view{"finished_view",
                                       "@shown, CAST(payload AS text), CAST(result AS text), finished_at, finished_at"};

inline jobs::Job job_of(const Row& row) {
  constexpr size_t rest = shown.size();
  return {.id = row.id<jobs::JobTag>(shown["id"]),
          .kind = row.text(shown["kind"]),
          .unique_key = row.optional_text(shown["unique_key"]),
          .payload = row.text(rest),
          .priority = static_cast<int32_t>(row.integer(shown["priority"])),
          .status = parse_enum<jobs::JobStatus>(row.text(shown["status"])).value(),
          .attempts = static_cast<int32_t>(row.integer(shown["attempts"])),
          .max_attempts = static_cast<int32_t>(row.integer(shown["max_attempts"])),
          .run_after = row.time(shown["run_after"]),
          .locked_at = row.optional_time(shown["locked_at"]),
          .locked_by = row.optional_text(shown["locked_by"]),
          .lock_token = row.integer(shown["lock_token"]),
          .throttle_key = row.optional_text(shown["throttle_key"]),
          .last_error = row.optional_text(shown["last_error"]),
          .result = row.optional_text(rest + 1),
          .created_at = row.time(shown["created_at"]),
          .updated_at = row.time(rest + 2),
          .finished_at = row.optional_time(rest + 3)};
}

// A job that is due and has no throttle key may be claimed at once.
inline constexpr Statement add_jobs = R"(
    @given(id uuid, kind text, priority bigint, run_after timestamptz, max_attempts bigint, throttle_key text,
      unique_key text, payload json, slot bigint, slot_turn bigint, not_before timestamptz)
    INSERT INTO jobs (id, kind, status, slot, slot_turn, priority, run_after, max_attempts, created_at, updated_at,
      throttle_key, unique_key, payload)
    @values(given.id, given.kind, 'queued',
      CASE WHEN given.throttle_key IS NOT NULL THEN given.slot
        WHEN coalesce(given.run_after <= now(), true) THEN 0 END,
      given.slot_turn,
      given.priority,
      @greatest(coalesce(given.run_after, now()), coalesce(given.not_before, given.run_after, now())),
      given.max_attempts, now(), now(), given.throttle_key, given.unique_key, given.payload))"_sql;

// A job with the slot that it is added with, if it has one.
inline void add_row(GivenRows& rows, const PreparedJob& one, std::optional<int64_t> slot,
                    std::optional<int64_t> slot_turn, std::optional<Time> not_before) {
  const jobs::NewJob& job = one.job;
  rows.add(one.id, job.kind, job.priority, job.run_after, job.max_attempts, job.throttle_key, job.unique_key,
           job.payload, slot, slot_turn, not_before);
}

}  // namespace sluice::sql
