#include "adapters/sql/jobs/job_views.h"

#include <algorithm>

#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/jobs/job_rows.h"
#include "adapters/sql/jobs/job_upkeep.h"

namespace sluice::sql {
namespace {

using jobs::Job;
using jobs::JobId;
using jobs::JobStatus;
using jobs::JobTag;

// Both tables in one statement: a job that ends just now is seen in exactly one of them.
constexpr Statement find_one = sql_with<R"(
    SELECT @live_view FROM jobs WHERE id = $1
    UNION ALL SELECT @finished_view FROM finished_jobs WHERE id = $1)",
                                        live_view, finished_view, shown>;

constexpr SqlPart of_kind{"of_kind", "id <= $1 AND id > $5 AND (CAST($2 AS text) IS NULL OR kind = $2)"};
constexpr SqlPart page_of_kind{"page_of_kind",
                               "@of_kind AND (CAST($3 AS text) IS NULL OR status = $3) ORDER BY id DESC LIMIT $4"};
constexpr Statement list_live =
    sql_with<"SELECT @live_view FROM jobs WHERE @page_of_kind", live_view, shown, page_of_kind, of_kind>;
constexpr Statement list_finished = sql_with<"SELECT @finished_view FROM finished_jobs WHERE @page_of_kind",
                                             finished_view, shown, page_of_kind, of_kind>;
constexpr Statement list_all = sql_with<R"(
    SELECT * FROM (SELECT @live_view FROM jobs WHERE @page_of_kind) AS live
    UNION ALL SELECT * FROM (SELECT @finished_view FROM finished_jobs WHERE @page_of_kind) AS finished)",
                                        live_view, finished_view, shown, page_of_kind, of_kind>;
// These have indexes of their own.
constexpr Statement list_running = sql_with<R"(
    SELECT * FROM (SELECT @live_view FROM jobs
      WHERE status = 'running' AND lock_expires_at IS NOT NULL AND status = $3 LIMIT 1000000) AS running
    WHERE @of_kind ORDER BY id DESC LIMIT $4)",
                                            live_view, shown, of_kind>;
constexpr Statement list_unlucky = sql_with<R"(
    SELECT @finished_view FROM finished_jobs
    WHERE @of_kind AND status = $3 AND status <> 'succeeded' ORDER BY id DESC LIMIT $4)",
                                            finished_view, shown, of_kind>;

// Asks only the table in which a job of that status can be.
Statement listing_of(std::optional<JobStatus> status) {
  if (!status) return list_all;
  switch (*status) {
    case JobStatus::queued:
    case JobStatus::failed: return list_live;
    case JobStatus::running: return list_running;
    case JobStatus::succeeded: return list_finished;
    case JobStatus::dead:
    case JobStatus::canceled: return list_unlucky;
  }
  return list_all;
}

constexpr Statement list_attempts = R"(
    SELECT number, started_at, ended_at, worker, outcome, error
    FROM job_attempts WHERE job_id = $1 ORDER BY lock_token)"_sql;

// Where the part ends that one page of a kind is looked for in, in either table.
constexpr size_t looked_through = 10'000;
constexpr Statement find_bounds = R"(
    SELECT (SELECT id FROM jobs WHERE id <= $1 ORDER BY id DESC LIMIT 1 OFFSET $2),
      (SELECT id FROM finished_jobs WHERE id <= $1 ORDER BY id DESC LIMIT 1 OFFSET $2))"_sql;

// PostgreSQL counts waiting and running jobs on 2,000 pages of their table, spread over all: exactly while there are no
// more, about 40,000 jobs. SQLite reads them all, on a thread of its own.
constexpr SqlPart sampled_jobs{"sampled_jobs", R"(
    @postgres((SELECT least(100, 2000 * 100.0 * current_setting('block_size')::bigint
          / greatest(pg_relation_size('jobs'), 1)) AS percent) AS sample
      CROSS JOIN LATERAL (SELECT * FROM jobs TABLESAMPLE SYSTEM (sample.percent)) AS jobs)
    @sqlite((SELECT 100 AS percent) AS sample CROSS JOIN jobs))"};
// The last column: finished within a minute. PostgreSQL has counted finished jobs when they were; SQLite counts them
// now.
constexpr Statement count_jobs = sql_with<R"(
    SELECT kind, status, CAST(round(count(*) * 100.0 / percent) AS bigint), 0 FROM @sampled_jobs
    GROUP BY kind, status, percent
    UNION ALL
    @postgres(
      SELECT kind, status, sum(jobs)::bigint,
        coalesce(sum(jobs) FILTER (WHERE jobs > 0 AND at > now() - @minute), 0)::bigint
      FROM finished_counts GROUP BY kind, status HAVING sum(jobs) <> 0)
    @sqlite(
      SELECT kind, status, count(*), count(*) FILTER (WHERE finished_at > now() - @minute)
      FROM finished_jobs GROUP BY kind, status))",
                                          sampled_jobs>;
// Of the same sample, and of the jobs that were added first.
constexpr SqlPart overdue{"overdue", "status <> 'running' AND run_after <= now()"};
constexpr Statement find_oldest = sql_with<R"(
    SELECT kind, min(run_after) FROM (
      SELECT kind, run_after FROM @sampled_jobs WHERE @overdue
      UNION ALL
      SELECT kind, run_after FROM (SELECT kind, status, run_after FROM jobs ORDER BY id LIMIT 1000) AS first
      WHERE @overdue) AS waiting
    GROUP BY kind)",
                                           sampled_jobs, overdue>;
// Ids begin with their time: only the end of either table is looked at. The other clock may differ a little.
constexpr Statement count_added = R"(
    SELECT kind, count(*)
    FROM (SELECT kind, created_at FROM jobs WHERE id >= $1
      UNION ALL SELECT kind, created_at FROM finished_jobs WHERE id >= $1) AS young
    WHERE created_at > now() - @minute
    GROUP BY kind)"_sql;
constexpr Statement count_failed = R"(
    SELECT kind, count(*) FROM job_attempts
    WHERE ended_at > now() - @minute AND outcome <> 'dead'
    GROUP BY kind)"_sql;
constexpr Statement find_failing = R"(
    SELECT kind, throttle_key, count(*) FROM job_attempts
    WHERE ended_at > now() - @hour AND throttle_key IS NOT NULL
    GROUP BY kind, throttle_key
    ORDER BY count(*) DESC, kind, throttle_key LIMIT 10)"_sql;

// The try that runs or succeeded is on the job itself.
std::optional<jobs::Attempt> own_attempt(const Job& job) {
  const bool succeeded = job.status == JobStatus::succeeded;
  if (!succeeded && job.status != JobStatus::running) return std::nullopt;
  return jobs::Attempt{.number = job.attempts,
                       .started_at = job.locked_at.value(),
                       .ended_at = job.finished_at,
                       .worker = job.locked_by.value(),
                       .outcome = succeeded ? "succeeded" : ""};
}

JobId last_id() {
  Uuid uuid;
  uuid.bytes.fill(0xff);
  return JobId(uuid);
}

double per_second(int64_t in_a_minute) {
  return static_cast<double>(in_a_minute) / 60;
}

void set_rate(jobs::JobRates& rates, JobStatus status, double rate) {
  if (status == JobStatus::succeeded) rates.succeeded = rate;
  if (status == JobStatus::dead) rates.dead = rate;
  if (status == JobStatus::canceled) rates.canceled = rate;
}

// Those that counting has not brought.
Task<> add_rates(Database& database, StatsByKind& kinds, Time now) {
  Params young(first_id_at(now - 2min));
  const Rows added = co_await database.read(count_added, std::move(young));
  for (const Row& row : added) kinds.of(row.text(0)).rates.added = per_second(row.integer(1));
  const Rows failed = co_await database.read(count_failed);
  for (const Row& row : failed) kinds.of(row.text(0)).rates.failed = per_second(row.integer(1));
}

// Jobs of one kind may be rare among others: a page is looked for in a part only. Running, dead and canceled ones have
// an index.
Task<std::optional<JobId>> bound_of(Database& database, jobs::JobFilter filter, JobId from) {
  using enum JobStatus;
  const bool waiting = filter.status == queued || filter.status == failed;
  const bool indexed = filter.status && !waiting && filter.status != succeeded;
  if ((!filter.kind && !filter.status) || indexed) co_return std::nullopt;
  Params params(from, looked_through);
  const Rows rows = co_await database.read(find_bounds, std::move(params));
  std::optional<JobId> live, finished;
  if (!rows.one().is_null(0)) live = rows.one().id<JobTag>(0);
  if (!rows.one().is_null(1)) finished = rows.one().id<JobTag>(1);
  if (waiting) co_return live;
  if (filter.status == succeeded) co_return finished;
  co_return std::max(live, finished);
}

}  // namespace

Task<std::optional<Job>> find_job(Database& database, JobId id) {
  const Params key(id);
  const Rows found = co_await database.read(find_one, key);
  if (found.empty()) co_return std::nullopt;
  Job job = job_of(found.one());
  const Rows attempts = co_await database.read(list_attempts, key);
  for (const Row& row : attempts) {
    job.history.push_back({.number = static_cast<int32_t>(row.integer(0)),
                           .started_at = row.time(1),
                           .ended_at = row.time(2),
                           .worker = row.text(3),
                           .outcome = row.text(4),
                           .error = row.optional_text(5)});
  }
  if (auto own = own_attempt(job)) job.history.push_back(std::move(*own));
  co_return job;
}

Task<jobs::JobPage> list_jobs(Database& database, jobs::JobFilter filter, std::optional<JobId> from, size_t most) {
  std::optional<std::string> status;
  if (filter.status) status = enum_name(*filter.status);
  const std::optional<JobId> bound = co_await bound_of(database, filter, from.value_or(last_id()));
  Params params(from.value_or(last_id()), filter.kind, status, most + 1, bound.value_or(JobId{}));
  const Rows rows = co_await database.read(listing_of(filter.status), std::move(params));
  jobs::JobPage page;
  for (const Row& row : rows) page.jobs.push_back(job_of(row));
  std::ranges::sort(page.jobs, std::greater{}, &Job::id);
  if (page.jobs.size() > most) {
    page.next = page.jobs[most].id;
    page.jobs.resize(most);
  } else {
    page.next = bound;
  }
  co_return page;
}

Task<jobs::JobStats> job_stats(Database& database, Time now) {
  StatsByKind kinds;
  const Rows counts = co_await database.read(count_jobs);
  for (const Row& row : counts) {
    const JobStatus status = parse_enum<JobStatus>(row.text(1)).value();
    jobs::KindStats& kind = kinds.of(row.text(0));
    kind.counts[status] += row.integer(2);
    set_rate(kind.rates, status, per_second(row.integer(3)));
  }
  const Rows oldest = co_await database.read(find_oldest);
  for (const Row& row : oldest) kinds.of(row.text(0)).oldest_waiting = row.time(1);
  co_await add_rates(database, kinds, now);
  jobs::JobStats stats;
  const Rows failing = co_await database.read(find_failing);
  for (const Row& row : failing) stats.top_failing.push_back({row.text(0), row.text(1), row.integer(2)});
  stats.kinds = std::move(kinds).take();
  co_return stats;
}

jobs::KindStats& StatsByKind::of(const std::string& kind) {
  const auto [found, is_new] = kinds_.try_emplace(kind);
  if (is_new) found->second.kind = kind;
  return found->second;
}

std::vector<jobs::KindStats> StatsByKind::take() && {
  std::vector<jobs::KindStats> all;
  all.reserve(kinds_.size());
  for (auto& [name, kind] : kinds_) all.push_back(std::move(kind));
  return all;
}

}  // namespace sluice::sql
