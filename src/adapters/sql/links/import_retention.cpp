#include "adapters/sql/links/import_retention.h"

#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "links/canonical_url.h"
#include "links/enrichment_job.h"
#include "links/import.h"

namespace sluice::sql {
namespace {

constexpr Statement oldest_import = R"(
    SELECT id FROM import_jobs WHERE finished_at < now() - @us($1) AND NOT loose_ends
    ORDER BY finished_at LIMIT 1 @lock(FOR UPDATE SKIP LOCKED))"_sql;
constexpr Statement delete_links_of = R"(
    DELETE FROM import_links WHERE import_id = $1 AND link_id @in(
      SELECT link_id FROM import_links WHERE import_id = $1 ORDER BY link_id LIMIT $2))"_sql;
constexpr Statement delete_import = "DELETE FROM import_jobs WHERE id = $1";

constexpr Statement hold_unused = R"(
    SELECT id FROM link_canonicals WHERE unused_since < now() - @us($1)
    ORDER BY unused_since LIMIT $2 @lock(FOR UPDATE SKIP LOCKED))"_sql;
// If its job is still running or an import waits for it, the link counts as unused from now on.
constexpr Statement keep_busy = R"(
    @given(id uuid)
    UPDATE link_canonicals SET unused_since = now() @from_given
    WHERE @lookup(link_canonicals.id = given.id) AND (
      (SELECT true FROM jobs WHERE id = link_canonicals.job_id)
      OR (SELECT true FROM import_links w WHERE w.link_id = given.id AND w.outcome = 'pending'
        @first_by(w.import_id)))
    RETURNING link_canonicals.id)"_sql;
// Else the next import of the link would wait for a job that succeeded for a row that is gone.
constexpr Statement free_keys = R"(
    @given(unique_key text, kind text)
    DELETE FROM job_keys AS k @using_given
    WHERE @lookup(k.kind = given.kind AND k.unique_key = given.unique_key)
      AND @only_after(given.kind, (SELECT true FROM jobs WHERE id = k.job_id) IS NULL))"_sql;
constexpr Statement delete_unused = R"(
    @given(id uuid)
    DELETE FROM link_canonicals AS l @using_given WHERE @lookup(l.id = given.id))"_sql;

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
