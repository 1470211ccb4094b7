#include "adapters/sql/links/import_loose_ends.h"

#include <set>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
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
constexpr Statement take_over = R"(
    @given(id uuid, title text)
    UPDATE link_instances SET title = given.title, import_id = @cast($3, uuid) @from_given
    WHERE @lookup(link_instances.id = given.id))"_sql;
constexpr Statement forget_named = R"(
    @given(id uuid, import_id uuid)
    DELETE FROM import_places AS p @using_given
    WHERE @lookup(p.import_id = given.import_id AND p.instance_id = given.id))"_sql;

constexpr Statement next_brought = "SELECT id, link_id FROM link_instances WHERE import_id = $1 ORDER BY id LIMIT $2";
// Under the links' locks, so that no other import names one of these places between the two statements.
constexpr Statement pass_on = R"(
    @given(id uuid, import_id uuid)
    UPDATE link_instances AS i SET import_id = (
      SELECT t.import_id FROM import_places t WHERE t.instance_id = i.id ORDER BY t.import_id LIMIT 1)
    @from_given
    WHERE @lookup(i.id = given.id) AND @lookup(i.import_id = given.import_id)
      AND (SELECT true FROM import_places t WHERE t.instance_id = given.id @first_by(t.import_id)))"_sql;
constexpr Statement delete_brought = R"(
    @given(id uuid, import_id uuid)
    DELETE FROM link_instances AS i @using_given
    WHERE @lookup(i.id = given.id) AND @lookup(i.import_id = given.import_id))"_sql;

constexpr Statement next_links = "SELECT link_id FROM import_links WHERE import_id = $1 ORDER BY link_id LIMIT $2";
constexpr Statement leave_links = R"(
    @given(id uuid, import_id uuid)
    DELETE FROM import_links @using_given
    WHERE @lookup(import_links.import_id = given.import_id AND import_links.link_id = given.id)
    RETURNING import_links.link_id, import_links.outcome)"_sql;
constexpr Statement unwanted_jobs = R"(
    @given(id uuid)
    SELECT l.job_id
    @from_each(SELECT id, job_id FROM link_canonicals WHERE id = given.id @by_index) AS l
    WHERE (SELECT status FROM jobs WHERE id = l.job_id) <> 'running'
      AND (SELECT true FROM import_links w WHERE w.link_id = l.id AND w.outcome = 'pending'
        @first_by(w.import_id)) IS NULL)"_sql;
constexpr Statement mark_unused = R"(
    @given(id uuid)
    UPDATE link_canonicals AS l SET unused_since = now() @from_given
    WHERE @lookup(l.id = given.id) AND @only_after(given.id, l.unused_since IS NULL)
      AND (SELECT true FROM link_instances i WHERE i.link_id = given.id @first_by(i.id)) IS NULL)"_sql;

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
