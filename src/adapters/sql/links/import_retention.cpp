#include "adapters/sql/links/import_retention.h"

#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "links/canonical_url.h"
#include "links/enrichment_job.h"
#include "links/import.h"

namespace sluice::sql {
namespace {

constexpr Statement oldest_import{Statement::PerDialect{
    .postgres = "SELECT id FROM import_jobs WHERE finished_at < now() - $1::bigint * interval '1 microsecond' "
                "  AND NOT loose_ends ORDER BY finished_at LIMIT 1 FOR UPDATE SKIP LOCKED",
    .sqlite = "SELECT id FROM import_jobs WHERE finished_at < now() - $1 AND NOT loose_ends "
              "ORDER BY finished_at LIMIT 1"}};
constexpr Statement delete_links_of{Statement::PerDialect{
    .postgres = "DELETE FROM import_links WHERE import_id = $1 AND link_id = ANY (ARRAY("
                "  SELECT link_id FROM import_links WHERE import_id = $1 ORDER BY link_id LIMIT $2))",
    .sqlite = "DELETE FROM import_links WHERE import_id = $1 AND link_id IN ("
              "  SELECT link_id FROM import_links WHERE import_id = $1 ORDER BY link_id LIMIT $2)"}};
constexpr Statement delete_import = "DELETE FROM import_jobs WHERE id = $1";

constexpr Statement hold_unused{Statement::PerDialect{
    .postgres = "SELECT id FROM link_canonicals WHERE unused_since < now() - $1::bigint * interval '1 microsecond' "
                "ORDER BY unused_since LIMIT $2 FOR UPDATE SKIP LOCKED",
    .sqlite = "SELECT id FROM link_canonicals WHERE unused_since < now() - $1 ORDER BY unused_since LIMIT $2"}};
// Its job may still be running, or an import waits for it: then it is looked at again as if it had become unused now.
constexpr Statement keep_busy{Statement::PerDialect{
    .postgres = "UPDATE link_canonicals l SET unused_since = now() FROM unnest($1::uuid[]) AS given (id) "
                "WHERE l.id = ANY (ARRAY[given.id]) AND ((SELECT true FROM jobs WHERE id = l.job_id) "
                "    OR (SELECT true FROM import_links w WHERE w.link_id = given.id AND w.outcome = 'pending' "
                "      ORDER BY w.import_id LIMIT 1)) "
                "RETURNING l.id",
    .sqlite = "UPDATE link_canonicals AS l SET unused_since = now() WHERE id = $1 "
              "  AND (EXISTS (SELECT 1 FROM jobs WHERE id = l.job_id) "
              "    OR EXISTS (SELECT 1 FROM import_links w WHERE w.link_id = $1 AND w.outcome = 'pending')) "
              "RETURNING id"}};
// Else the next import of the link would wait for a job that succeeded for a row that is gone.
constexpr Statement free_keys{
    Statement::PerDialect{.postgres = "DELETE FROM job_keys k "
                                      "USING unnest($1::text[], $2::text[]) AS given (unique_key, kind) "
                                      "WHERE k.kind = ANY (ARRAY[given.kind]) "
                                      "  AND k.unique_key BETWEEN given.unique_key AND given.unique_key "
                                      "  AND CASE WHEN given.kind IS NOT NULL "
                                      "    THEN (SELECT true FROM jobs WHERE id = k.job_id) IS NULL END",
                          .sqlite = "DELETE FROM job_keys WHERE kind = $2 AND unique_key = $1 "
                                    "  AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = job_keys.job_id)"}};
constexpr Statement delete_unused{
    Statement::PerDialect{.postgres = "DELETE FROM link_canonicals l USING unnest($1::uuid[]) AS given (id) "
                                      "WHERE l.id = ANY (ARRAY[given.id])",
                          .sqlite = "DELETE FROM link_canonicals WHERE id = $1"}};

}  // namespace

TxTask<size_t> forget_import_step(Tx& tx, int64_t keep_us, int64_t most) {
  const Rows oldest = co_await tx.execute(oldest_import, Params(keep_us));
  if (oldest.empty()) co_return size_t{0};
  const links::ImportId import = oldest.one().id<links::ImportTag>(0);
  const Rows links = co_await tx.execute(delete_links_of, Params(import, most));
  if (links.affected < most) co_await tx.execute(delete_import, Params(import));
  co_return static_cast<size_t>(links.affected) + 1;
}

TxTask<size_t> forget_links_step(Tx& tx, int64_t keep_us, int64_t most) {
  const Rows held = co_await tx.execute(hold_unused, Params(keep_us, most));
  std::set<links::LinkId> unused;
  for (const Row& row : held) unused.insert(row.id<links::LinkTag>(0));
  GivenRows looked_at;
  for (const links::LinkId& link : unused) looked_at.add(link);
  const Rows busy = co_await execute_many(tx, keep_busy, std::move(looked_at));
  for (const Row& row : busy) unused.erase(row.id<links::LinkTag>(0));
  GivenRows keys;
  GivenRows links;
  for (const links::LinkId& link : unused) {
    keys.add(link.text(), links::enrich_link);
    links.add(link);
  }
  co_await execute_many(tx, free_keys, std::move(keys));
  co_await execute_many(tx, delete_unused, std::move(links));
  co_return held.size();
}

}  // namespace sluice::sql
