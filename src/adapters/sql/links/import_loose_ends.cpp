#include "adapters/sql/links/import_loose_ends.h"

#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/links/import_rows.h"

namespace sluice::sql {
namespace {

using links::Import;
using links::ImportId;
using links::ImportStatus;
using links::LinkId;
using links::LinkTag;

constexpr Statement next_named =
    "SELECT instance_id, title FROM import_places WHERE import_id = $1 ORDER BY instance_id LIMIT $2";
constexpr Statement take_over{
    Statement::PerDialect{.postgres = "UPDATE link_instances SET title = given.title, import_id = $3::uuid "
                                      "FROM unnest($1::uuid[], $2::text[]) AS given (id, title) "
                                      "WHERE link_instances.id = ANY (ARRAY[given.id])",
                          .sqlite = "UPDATE link_instances SET title = $2, import_id = $3 WHERE id = $1"}};
constexpr Statement forget_named{
    Statement::PerDialect{.postgres = "DELETE FROM import_places p "
                                      "USING unnest($1::uuid[], $2::uuid[]) AS given (id, import_id) "
                                      "WHERE p.import_id = ANY (ARRAY[given.import_id]) "
                                      "  AND p.instance_id BETWEEN given.id AND given.id",
                          .sqlite = "DELETE FROM import_places WHERE import_id = $2 AND instance_id = $1"}};

constexpr Statement next_brought = "SELECT id, link_id FROM link_instances WHERE import_id = $1 ORDER BY id LIMIT $2";
// Under the links' locks, so that nobody names one of these places between the two statements.
constexpr Statement pass_on{Statement::PerDialect{
    .postgres = "UPDATE link_instances i SET import_id = ("
                "  SELECT t.import_id FROM import_places t WHERE t.instance_id = i.id ORDER BY t.import_id LIMIT 1) "
                "FROM unnest($1::uuid[], $2::uuid[]) AS given (id, import_id) "
                "WHERE i.id = ANY (ARRAY[given.id]) AND i.import_id = ANY (ARRAY[given.import_id]) "
                "  AND (SELECT true FROM import_places t WHERE t.instance_id = given.id ORDER BY t.import_id LIMIT 1)",
    .sqlite = "UPDATE link_instances SET import_id = ("
              "  SELECT t.import_id FROM import_places t WHERE t.instance_id = $1 ORDER BY t.import_id LIMIT 1) "
              "WHERE id = $1 AND import_id = $2 AND EXISTS (SELECT 1 FROM import_places t WHERE t.instance_id = $1)"}};
constexpr Statement delete_brought{
    Statement::PerDialect{.postgres = "DELETE FROM link_instances i "
                                      "USING unnest($1::uuid[], $2::uuid[]) AS given (id, import_id) "
                                      "WHERE i.id = ANY (ARRAY[given.id]) "
                                      "  AND i.import_id = ANY (ARRAY[given.import_id])",
                          .sqlite = "DELETE FROM link_instances WHERE id = $1 AND import_id = $2"}};

constexpr Statement next_links = "SELECT link_id FROM import_links WHERE import_id = $1 ORDER BY link_id LIMIT $2";
constexpr Statement leave_links{Statement::PerDialect{
    .postgres = "DELETE FROM import_links w USING unnest($1::uuid[], $2::uuid[]) AS given (id, import_id) "
                "WHERE w.import_id = ANY (ARRAY[given.import_id]) AND w.link_id BETWEEN given.id AND given.id "
                "RETURNING w.link_id, w.outcome",
    .sqlite = "DELETE FROM import_links WHERE import_id = $2 AND link_id = $1 RETURNING link_id, outcome"}};
constexpr Statement unwanted_jobs{Statement::PerDialect{
    .postgres = "SELECT l.job_id FROM unnest($1::uuid[]) AS given (id) "
                "CROSS JOIN LATERAL (SELECT id, job_id FROM link_canonicals WHERE id = given.id OFFSET 0) AS l "
                "WHERE (SELECT status FROM jobs WHERE id = l.job_id) <> 'running' "
                "  AND (SELECT true FROM import_links w WHERE w.link_id = l.id AND w.outcome = 'pending' "
                "    ORDER BY w.import_id LIMIT 1) IS NULL",
    .sqlite = "SELECT job_id FROM link_canonicals l WHERE id = $1 "
              "  AND (SELECT status FROM jobs WHERE id = l.job_id) <> 'running' "
              "  AND NOT EXISTS (SELECT 1 FROM import_links w WHERE w.link_id = $1 AND w.outcome = 'pending')"}};
constexpr Statement mark_unused{Statement::PerDialect{
    .postgres = "UPDATE link_canonicals l SET unused_since = now() FROM unnest($1::uuid[]) AS given (id) "
                "WHERE l.id = ANY (ARRAY[given.id]) AND CASE WHEN given.id IS NOT NULL THEN l.unused_since IS NULL END "
                "  AND (SELECT true FROM link_instances i WHERE i.link_id = given.id ORDER BY i.id LIMIT 1) IS NULL",
    .sqlite = "UPDATE link_canonicals SET unused_since = now() WHERE id = $1 AND unused_since IS NULL "
              "  AND NOT EXISTS (SELECT 1 FROM link_instances i WHERE i.link_id = $1)"}};

// Unless it was canceled meanwhile, which makes new ones.
constexpr Statement all_tied_up =
    "UPDATE import_jobs SET loose_ends = false WHERE id = $1 AND status = $2 AND loose_ends";

GivenRows rows_of(const std::set<LinkId>& links) {
  GivenRows given;
  for (const LinkId& link : links) given.add(link);
  return given;
}

// Bookmarks that other imports brought.
TxTask<size_t> end_naming(Tx& tx, ImportId id, bool good, int64_t most) {
  const Rows rows = co_await tx.execute(next_named, Params(id, most));
  GivenRows titles;
  GivenRows named;
  for (const Row& row : rows) {
    titles.add(row.uuid(0), row.text(1));
    named.add(row.uuid(0), id);
  }
  if (good) co_await execute_many(tx, take_over, std::move(titles), Params(id));
  co_await execute_many(tx, forget_named, std::move(named));
  co_return rows.size();
}

// Bookmarks that a failed import brought. By now it names no others, so nothing is passed on to itself.
TxTask<size_t> take_back(Tx& tx, ImportId id, int64_t most) {
  const Rows rows = co_await tx.execute(next_brought, Params(id, most));
  GivenRows places;
  std::set<LinkId> links;
  for (const Row& row : rows) {
    places.add(row.uuid(0), id);
    links.insert(row.id<LinkTag>(1));
  }
  co_await execute_many(tx, lock_links, rows_of(links));
  co_await execute_many(tx, pass_on, places);
  co_await execute_many(tx, delete_brought, std::move(places));
  co_return rows.size();
}

// The import waits for these links no more.
TxTask<size_t> leave(Tx& tx, ImportId id, int64_t most, EndingRules rules) {
  const Rows rows = co_await tx.execute(next_links, Params(id, most));
  std::set<LinkId> links;
  for (const Row& row : rows) links.insert(row.id<LinkTag>(0));
  co_await execute_many(tx, lock_links, rows_of(links));
  GivenRows left_links;
  for (const LinkId& link : links) left_links.add(link, id);
  const Rows left = co_await execute_many(tx, leave_links, std::move(left_links));
  std::set<LinkId> waited_for;
  for (const Row& row : left) {
    if (row.text(1) == "pending") waited_for.insert(row.id<LinkTag>(0));
  }
  const Rows unwanted = co_await execute_many(tx, unwanted_jobs, rows_of(waited_for));
  std::set<jobs::JobId> jobs;
  for (const Row& row : unwanted) jobs.insert(row.id<jobs::JobTag>(0));
  if (!jobs.empty()) co_await cancel_waiting(tx, std::move(jobs), rules);
  co_await execute_many(tx, mark_unused, rows_of(links));
  co_return rows.size();
}

}  // namespace

TxTask<size_t> tie_up_step(Tx& tx, ImportId id, int64_t most, EndingRules rules) {
  const std::optional<Import> import = co_await read_import(tx, id);
  if (!import || import->status == ImportStatus::queued) co_return size_t{0};
  const bool failed = import->status == ImportStatus::failed;
  size_t done = co_await end_naming(tx, id, !failed, most);
  if (done == 0 && failed) done = co_await take_back(tx, id, most);
  const bool stopped = failed || import->status == ImportStatus::canceled;
  if (done == 0 && stopped) done = co_await leave(tx, id, most, rules);
  if (done == 0) co_await tx.execute(all_tied_up, Params(id, enum_name(import->status)));
  co_return done;
}

}  // namespace sluice::sql
