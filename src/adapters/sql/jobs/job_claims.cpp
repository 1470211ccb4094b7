#include "adapters/sql/jobs/job_claims.h"

#include <algorithm>
#include <map>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using jobs::JobId;
using jobs::JobTag;

// Unambiguous beside other tables, too.
constexpr SqlPart claimed{
    "claimed",
    "jobs.id, kind, payload, attempts, max_attempts, lock_token, lock_expires_at, throttle_key, priority, run_after"};

// The rows are found by their place in the table: they are locked, so they stay there.
constexpr Statement claim_kind = sql_with<R"(
    UPDATE jobs SET status = 'running', attempts = attempts + 1, lock_token = lock_token + 1, lock_ttl = $2,
      locked_at = now(), locked_by = $7, lock_expires_at = now() + @us($2), updated_at = now()
    WHERE @place @in(
      SELECT @place FROM jobs WHERE kind = $1 AND slot IS NOT NULL AND status <> 'running'
        AND (priority, run_after, id) > ($3, $4, $5) AND run_after <= now()
      ORDER BY priority, run_after, id LIMIT $6 @lock(FOR UPDATE SKIP LOCKED))
    RETURNING @claimed)",
                                          claimed>;
// PostgreSQL only. Looks first how many of each kind are among the best, then takes so many of each: nothing is locked
// and not taken.
constexpr Statement claim_kinds = sql_with<R"(
    WITH given AS (SELECT *
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::uuid[])
        AS given (kind, ttl, priority, run_after, id)),
    best AS (SELECT given.kind, given.ttl, given.priority, given.run_after, given.id
      FROM given CROSS JOIN LATERAL (
        SELECT priority, run_after, id FROM jobs WHERE kind = given.kind AND slot IS NOT NULL
          AND status <> 'running' AND (priority, run_after, id) > (given.priority, given.run_after, given.id)
          AND run_after <= now()
        ORDER BY priority, run_after, id LIMIT $6) AS found
      ORDER BY found.priority, found.run_after, found.id LIMIT $6),
    shares AS (SELECT kind, ttl, priority, run_after, id, count(*) AS share FROM best GROUP BY 1, 2, 3, 4, 5),
    taken AS MATERIALIZED (SELECT shares.ttl, locked.id FROM shares CROSS JOIN LATERAL (
      SELECT id FROM jobs WHERE kind = shares.kind AND slot IS NOT NULL AND status <> 'running'
        AND (priority, run_after, id) > (shares.priority, shares.run_after, shares.id) AND run_after <= now()
      ORDER BY priority, run_after, id LIMIT shares.share FOR UPDATE SKIP LOCKED) AS locked)
    UPDATE jobs SET status = 'running', attempts = attempts + 1, lock_token = lock_token + 1,
      lock_ttl = taken.ttl, locked_at = now(), locked_by = $7,
      lock_expires_at = now() + taken.ttl * interval '1 microsecond', updated_at = now()
    FROM taken WHERE jobs.id = ANY (ARRAY[taken.id])
    RETURNING @claimed)",
                                           claimed>;
constexpr Statement look_at_kind = R"(
    SELECT priority, run_after, id FROM jobs
    WHERE kind = $1 AND slot IS NOT NULL AND status <> 'running' AND run_after <= now()
    ORDER BY priority, run_after, id LIMIT $2)"_sql;

// In the order of claims, which no engine promises for changed rows. Mostly they are: rows lie as they were added.
std::vector<TakenJob> taken_jobs(const Rows& rows) {
  std::vector<TakenJob> taken;
  taken.reserve(rows.size());
  for (const Row& row : rows) {
    const JobId id = row.id<JobTag>(claimed["jobs.id"]);
    taken.push_back({.job = {.id = id,
                             .kind = row.text(claimed["kind"]),
                             .payload = row.text(claimed["payload"]),
                             .attempt = static_cast<int32_t>(row.integer(claimed["attempts"])),
                             .max_attempts = static_cast<int32_t>(row.integer(claimed["max_attempts"])),
                             .token = row.integer(claimed["lock_token"]),
                             .lock_expires_at = row.time(claimed["lock_expires_at"]),
                             .throttle_key = row.optional_text(claimed["throttle_key"])},
                     .position = {row.integer(claimed["priority"]), row.time(claimed["run_after"]), id}});
  }
  if (!std::ranges::is_sorted(taken, {}, &TakenJob::position)) std::ranges::sort(taken, {}, &TakenJob::position);
  return taken;
}

Params params_of(const KindToClaim& kind, const std::string& worker, size_t limit) {
  return Params(kind.kind, kind.lock_ttl.count(), kind.after.priority, kind.after.run_after, kind.after.id, limit,
                worker);
}

GivenRows given_kinds(const std::vector<KindToClaim>& kinds) {
  GivenRows given;
  for (const KindToClaim& kind : kinds) {
    given.add(kind.kind, kind.lock_ttl.count(), kind.after.priority, kind.after.run_after, kind.after.id);
  }
  return given;
}

// How many of each kind are among the `limit` best.
TxTask<std::map<std::string, size_t>> shares_of(Tx& tx, std::vector<KindToClaim> kinds, size_t limit) {
  std::vector<std::pair<ClaimPosition, std::string>> best;
  for (const KindToClaim& kind : kinds) {
    const Rows rows = co_await tx.execute(look_at_kind, Params(kind.kind, limit));
    for (const Row& row : rows) {
      best.push_back({{row.integer(0), row.time(1), row.id<JobTag>(2)}, kind.kind});
    }
  }
  std::ranges::sort(best);
  best.resize(std::min(best.size(), limit));
  std::map<std::string, size_t> shares;
  for (const auto& [position, kind] : best) ++shares[kind];
  co_return shares;
}

// SQLite: nobody else writes meanwhile.
TxTask<Rows> claim_one_by_one(Tx& tx, std::vector<KindToClaim> kinds, std::string worker, size_t limit) {
  const std::map<std::string, size_t> shares = co_await shares_of(tx, kinds, limit);
  Rows all;
  for (const KindToClaim& kind : kinds) {
    const auto share = shares.find(kind.kind);
    if (share == shares.end()) continue;
    Rows some = co_await tx.execute(claim_kind, params_of(kind, worker, share->second));
    std::ranges::move(some.rows, std::back_inserter(all.rows));
  }
  co_return all;
}

}  // namespace

Task<std::vector<TakenJob>> claim_ready(Database& database, std::vector<KindToClaim> kinds, std::string worker,
                                        size_t limit) {
  if (kinds.size() == 1) {
    Params params = params_of(kinds.front(), worker, limit);
    const Rows rows = co_await database.write(claim_kind, std::move(params));
    co_return taken_jobs(rows);
  }
  if (database.dialect() == Dialect::sqlite) {
    const Rows rows = co_await database.transact(claim_one_by_one, std::move(kinds), std::move(worker), limit);
    co_return taken_jobs(rows);
  }
  Params params = given_kinds(kinds).columns();
  params.add(limit);
  params.add(worker);
  const Rows rows = co_await database.write(claim_kinds, std::move(params));
  co_return taken_jobs(rows);
}

}  // namespace sluice::sql
