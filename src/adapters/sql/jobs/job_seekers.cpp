#include "adapters/sql/jobs/job_seekers.h"

#include <array>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using jobs::JobTag;
using jobs::SlotSeeker;

constexpr SqlPart waiting{"waiting",
                          "kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL "
                          "AND throttle_key IS NOT NULL"};
// PostgreSQL: due by the time of the statement. The transaction may have begun before a job was added, and waited for
// the key's lock since.
constexpr SqlPart due{"due", "run_after <= @postgres(statement_timestamp()) @sqlite(now())"};
// The priorities of a key's jobs in ascending order, then NULL.
constexpr SqlPart levels{"levels", R"(
    WITH RECURSIVE levels (level) AS (
      SELECT (SELECT min(priority) FROM jobs WHERE @waiting)
      UNION ALL
      SELECT (SELECT min(priority) FROM jobs WHERE @waiting AND priority > level) FROM levels WHERE level IS NOT NULL))"};

// Reads at most 50 jobs that are not due: cheaper than a look at every priority, where there are few. Stops at the last
// one that is wanted.
constexpr Statement read_first = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, most bigint)
    SELECT given.place, seeker.id, seeker.priority
    @from_each(SELECT id, priority FROM (SELECT id, priority, run_after FROM jobs WHERE @waiting
        ORDER BY priority, run_after, id LIMIT given.most + 50) AS first
      WHERE @due LIMIT given.most) AS seeker)",
                                          waiting, due>;
constexpr Statement read_by_level = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, most bigint)
    SELECT given.place, seeker.id, seeker.priority
    @from_each(@levels
      @postgres(SELECT id, level AS priority FROM levels CROSS JOIN LATERAL (SELECT id FROM jobs
        WHERE @waiting AND priority = level AND @due ORDER BY run_after, id LIMIT given.most) AS one)
      @sqlite(SELECT id, priority FROM levels CROSS JOIN jobs WHERE @waiting AND priority = level AND @due)
      LIMIT given.most) AS seeker)",
                                             levels, waiting, due>;
constexpr Statement read_times = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, pause bigint)
    SELECT given.place, CASE
      WHEN given.pause > 0 THEN (SELECT now() + @us(given.pause) FROM jobs WHERE @waiting LIMIT 1)
      ELSE (@levels SELECT min((SELECT min(run_after) FROM jobs WHERE @waiting AND priority = level)) FROM levels) END
    @from_given)",
                                          levels, waiting>;

// The second for those keys for which the first found too few.
constexpr std::array<Statement, 2> seeking{read_first, read_by_level};

}  // namespace

TxTask<std::vector<std::vector<SlotSeeker>>> read_seekers(Tx& tx, std::vector<SeekersWanted> wanted) {
  std::vector<std::vector<SlotSeeker>> seekers(wanted.size());
  for (const Statement& statement : seeking) {
    GivenRows given;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (static_cast<int64_t>(seekers[i].size()) == wanted[i].most) continue;
      given.add(wanted[i].kind, wanted[i].throttle_key, i, wanted[i].most);
      seekers[i].clear();
    }
    const Rows rows = co_await execute_many(tx, statement, std::move(given));
    for (const Row& row : rows) {
      seekers[static_cast<size_t>(row.integer(0))].push_back({.id = row.id<JobTag>(1), .priority = row.integer(2)});
    }
  }
  co_return seekers;
}

TxTask<std::vector<std::optional<Time>>> read_looks(Tx& tx, std::vector<LookWanted> wanted) {
  GivenRows given;
  for (size_t i = 0; i < wanted.size(); ++i) {
    given.add(wanted[i].kind, wanted[i].throttle_key, i, wanted[i].pause.count());
  }
  std::vector<std::optional<Time>> looks(wanted.size());
  const Rows rows = co_await execute_many(tx, read_times, std::move(given));
  for (const Row& row : rows) looks[static_cast<size_t>(row.integer(0))] = row.optional_time(1);
  co_return looks;
}

}  // namespace sluice::sql
