#include "adapters/sql/jobs/job_seekers.h"

#include <algorithm>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using jobs::JobTag;
using jobs::SlotSeeker;

constexpr SqlPart waiting{"waiting",
                          "kind = given.kind AND throttle_key = given.throttle_key AND slot IS NULL "
                          "AND throttle_key IS NOT NULL"};
constexpr SqlPart behind{"behind",
                         "(priority, run_after, id) >= (given.from_priority, given.from_time, given.from_id)"};
// PostgreSQL: due by the time of the statement. The transaction may have begun before a job was added, and waited for
// the key's lock since.
constexpr SqlPart due{"due", "run_after <= @postgres(statement_timestamp()) @sqlite(now())"};
// The priorities of a key's jobs in ascending order, then NULL.
constexpr SqlPart levels{"levels", R"(
    WITH RECURSIVE levels (level) AS (
      SELECT (SELECT min(priority) FROM jobs WHERE @waiting)
      UNION ALL
      SELECT (SELECT min(priority) FROM jobs WHERE @waiting AND priority > level) FROM levels WHERE level IS NOT NULL))"};

// One more than is wanted: the first are nearly always due, and one too few means that these are all.
constexpr Statement read_first = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, most bigint, from_priority bigint, from_time timestamptz, from_id uuid)
    SELECT given.place, seeker.id, seeker.priority, seeker.run_after, seeker.is_due
    @from_each(SELECT id, priority, run_after, @due AS is_due FROM jobs WHERE @waiting AND @behind
      ORDER BY priority, run_after, id LIMIT given.most + 1) AS seeker)",
                                          waiting, due, behind>;
constexpr Statement read_by_level = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, most bigint)
    SELECT given.place, seeker.id, seeker.priority, seeker.run_after
    @from_each(@levels
      @postgres(SELECT id, level AS priority, run_after FROM levels CROSS JOIN LATERAL (SELECT id, run_after FROM jobs
        WHERE @waiting AND priority = level AND @due ORDER BY run_after, id LIMIT given.most) AS one)
      @sqlite(SELECT id, priority, run_after FROM levels CROSS JOIN jobs WHERE @waiting AND priority = level AND @due)
      LIMIT given.most) AS seeker)",
                                             levels, waiting, due>;
constexpr Statement read_times = sql_with<R"(
    @given(kind text, throttle_key text, place bigint, pause bigint, from_priority bigint, from_time timestamptz, from_id uuid)
    SELECT given.place, CASE
      WHEN given.pause > 0 THEN (SELECT now() + @us(given.pause) FROM jobs WHERE @waiting AND @behind LIMIT 1)
      ELSE (@levels SELECT min((SELECT min(run_after) FROM jobs WHERE @waiting AND priority = level)) FROM levels) END
    @from_given)",
                                          levels, waiting, behind>;

GivenRows rows_of(const std::vector<SeekersWanted>& wanted, const std::vector<size_t>& places) {
  GivenRows given;
  for (const size_t i : places) given.add(wanted[i].kind, wanted[i].throttle_key, i, wanted[i].most);
  return given;
}

GivenRows rows_of(const std::vector<SeekersWanted>& wanted) {
  GivenRows given;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& [kind, throttle_key, most, from] = wanted[i];
    given.add(kind, throttle_key, i, most, from.priority, from.run_after, from.id);
  }
  return given;
}

SlotSeeker seeker_in(const Row& row) {
  return {.priority = row.integer(2), .run_after = row.time(3), .id = row.id<JobTag>(1)};
}

// What the first look found of a key.
class FirstLook {
 public:
  void add(const Row& row) {
    seekers_.first.push_back(seeker_in(row));
    if (row.boolean(4)) {
      seekers_.due.push_back(seekers_.first.back());
    } else if (const Time at = row.time(3); !seekers_.later || at < *seekers_.later) {
      seekers_.later = at;
    }
  }
  // Nothing if due ones may stand behind others that are not.
  std::optional<Seekers> result(size_t most) {
    seekers_.complete = seekers_.first.size() <= most;
    if (!seekers_.complete && seekers_.due.size() < most) return std::nullopt;
    std::ranges::sort(seekers_.due);
    if (seekers_.due.size() > most) seekers_.due.resize(most);
    return std::move(seekers_);
  }

 private:
  Seekers seekers_;
};

}  // namespace

TxTask<std::vector<Seekers>> read_seekers(Tx& tx, std::vector<SeekersWanted> wanted) {
  std::vector<FirstLook> first(wanted.size());
  const Rows found = co_await execute_many(tx, read_first, rows_of(wanted));
  for (const Row& row : found) first[place_in(row)].add(row);

  std::vector<Seekers> seekers(wanted.size());
  std::vector<size_t> places;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (auto result = first[i].result(static_cast<size_t>(wanted[i].most))) {
      seekers[i] = std::move(*result);
    } else {
      seekers[i].passed_over = true;
      places.push_back(i);
    }
  }
  const Rows by_level = co_await execute_many(tx, read_by_level, rows_of(wanted, places));
  for (const Row& row : by_level) seekers[place_in(row)].due.push_back(seeker_in(row));
  for (const size_t i : places) std::ranges::sort(seekers[i].due);
  co_return seekers;
}

TxTask<std::vector<std::optional<Time>>> read_looks(Tx& tx, std::vector<LookWanted> wanted) {
  GivenRows given;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto& [kind, throttle_key, pause, from] = wanted[i];
    given.add(kind, throttle_key, i, pause.count(), from.priority, from.run_after, from.id);
  }
  std::vector<std::optional<Time>> looks(wanted.size());
  const Rows rows = co_await execute_many(tx, read_times, std::move(given));
  for (const Row& row : rows) looks[static_cast<size_t>(row.integer(0))] = row.optional_time(1);
  co_return looks;
}

}  // namespace sluice::sql
