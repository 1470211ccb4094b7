#include "adapters/sql/sql_import_store.h"

#include <set>

#include "adapters/sql/given_rows.h"
#include "adapters/sql/import_batch.h"
#include "adapters/sql/import_rows.h"

namespace sluice::sql {
namespace {

using namespace links;

constexpr int64_t most_settled = 1000;  // links, in one transaction

constexpr Statement begin_import =
    "INSERT INTO import_jobs (id, user_id, source_type, status, created_at, updated_at) "
    "VALUES ($1, $2, 'chrome_html', 'queued', now(), now()) ON CONFLICT (id) DO NOTHING";
constexpr Statement begin_running =
    "UPDATE import_jobs SET skipped_items = $2, started_at = now(), updated_at = now(), "
    "  status = CASE WHEN processed_items = total_items THEN 'succeeded' ELSE 'running' END, "
    "  finished_at = CASE WHEN processed_items = total_items THEN now() END, "
    "  loose_ends = EXISTS (SELECT 1 FROM import_titles WHERE import_id = $1) "
    "WHERE id = $1 AND status = 'queued'";
// Before the import itself: whoever ends a link locks them in this order too.
constexpr Statement stop_waiting =
    "UPDATE import_links SET outcome = 'canceled' WHERE import_id = $1 AND outcome = 'pending'";
constexpr Statement forget_titles = "DELETE FROM import_titles WHERE import_id = $1";
constexpr Statement remove_places = "DELETE FROM link_instances WHERE import_id = $1";
constexpr Statement fail_import =
    "UPDATE import_jobs SET status = 'failed', last_error = $2, loose_ends = true, finished_at = now(), updated_at = "
    "now() "
    "WHERE id = $1 AND status = 'queued'";
constexpr Statement cancel_import =
    "UPDATE import_jobs SET status = 'canceled', loose_ends = true, finished_at = now(), updated_at = now() "
    "WHERE id = $1 AND status IN ('queued', 'running')";

constexpr Statement hold_unwanted{Statement::PerDialect{
    .postgres = "SELECT l.id FROM import_links w JOIN link_canonicals l ON l.id = w.link_id "
                "JOIN jobs j ON j.id = l.job_id "
                "WHERE w.import_id = $1 AND w.outcome = 'canceled' AND j.status <> 'running' "
                "  AND NOT EXISTS (SELECT FROM import_links o WHERE o.link_id = l.id AND o.outcome = 'pending') "
                "ORDER BY l.id LIMIT $2 FOR NO KEY UPDATE OF l",
    .sqlite = "SELECT l.id FROM import_links w JOIN link_canonicals l ON l.id = w.link_id "
              "JOIN jobs j ON j.id = l.job_id "
              "WHERE w.import_id = $1 AND w.outcome = 'canceled' AND j.status <> 'running' "
              "  AND NOT EXISTS (SELECT 1 FROM import_links o WHERE o.link_id = l.id AND o.outcome = 'pending') "
              "ORDER BY l.id LIMIT $2"}};
// Once more under the lock: a new import may have come to wait for one.
constexpr Statement jobs_of_unwanted{Statement::PerDialect{
    .postgres = "SELECT l.job_id FROM unnest($1::uuid[]) AS given (id) JOIN link_canonicals l ON l.id = given.id "
                "WHERE NOT EXISTS (SELECT FROM import_links o WHERE o.link_id = l.id AND o.outcome = 'pending')",
    .sqlite = "SELECT job_id FROM link_canonicals WHERE id = $1 "
              "  AND NOT EXISTS (SELECT 1 FROM import_links o WHERE o.link_id = $1 AND o.outcome = 'pending')"}};

constexpr Statement next_titles =
    "SELECT instance_id, title FROM import_titles WHERE import_id = $1 ORDER BY instance_id LIMIT $2";
constexpr Statement set_titles{Statement::PerDialect{
    .postgres = "UPDATE link_instances SET title = given.title "
                "FROM unnest($1::uuid[], $2::text[]) AS given (id, title) WHERE link_instances.id = given.id",
    .sqlite = "UPDATE link_instances SET title = $2 WHERE id = $1"}};
constexpr Statement remove_titles{Statement::PerDialect{
    .postgres = "DELETE FROM import_titles WHERE import_id = $2 AND instance_id = ANY ($1::uuid[])",
    .sqlite = "DELETE FROM import_titles WHERE import_id = $2 AND instance_id = $1"}};
// Unless it was canceled meanwhile, which makes new ones.
constexpr Statement all_tied_up =
    "UPDATE import_jobs SET loose_ends = false WHERE id = $1 AND status = $2 AND loose_ends";
constexpr Statement find_loose = "SELECT id FROM import_jobs WHERE loose_ends ORDER BY id LIMIT $1";

constexpr Statement broken_off{Statement::PerDialect{
    .postgres = "SELECT id FROM import_jobs WHERE status = 'queued' "
                "  AND updated_at < now() - $1::bigint * interval '1 microsecond' ORDER BY id LIMIT 100",
    .sqlite = "SELECT id FROM import_jobs WHERE status = 'queued' AND updated_at < now() - $1 ORDER BY id LIMIT 100"}};
// Where the part ends that begins behind $1.
constexpr Statement end_of_part =
    "SELECT link_id FROM import_links WHERE outcome = 'pending' AND link_id > $1 ORDER BY link_id LIMIT 1 OFFSET $2";
// Looks at much, so it is read beside the transactions and looked at again within one.
constexpr Statement without_job =
    "SELECT DISTINCT l.id FROM import_links w JOIN link_canonicals l ON l.id = w.link_id "
    "LEFT JOIN jobs j ON j.id = l.job_id "
    "WHERE w.outcome = 'pending' AND w.link_id > $1 AND w.link_id <= $2 AND j.id IS NULL ORDER BY l.id LIMIT $3";
constexpr Statement hold_link{
    Statement::PerDialect{.postgres = "SELECT id FROM link_canonicals WHERE id = $1 FOR NO KEY UPDATE",
                          .sqlite = "SELECT id FROM link_canonicals WHERE id = $1"}};
constexpr Statement still_without_job =
    "SELECT fetched_at IS NOT NULL FROM link_canonicals l "
    "WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = l.job_id)";

LinkId last_of_all() {
  Uuid uuid;
  uuid.bytes.fill(0xFF);
  return LinkId(uuid);
}

TxTask<std::optional<Import>> begin_body(Tx& tx, ImportId id, OwnerId owner) {
  const Rows begun = co_await tx.execute(begin_import, Params(id, owner));
  if (begun.affected == 0) co_return std::nullopt;
  const std::optional<Import> import = co_await read_import(tx, id);
  co_return import;
}

TxTask<std::optional<Import>> run_body(Tx& tx, ImportId id, int64_t skipped) {
  const Rows begun = co_await tx.execute(begin_running, Params(id, skipped));
  if (begun.affected == 0) co_return std::nullopt;
  const std::optional<Import> import = co_await read_import(tx, id);
  co_return import;
}

TxTask<std::optional<Import>> reject_body(Tx& tx, ImportId id, std::string error) {
  co_await tx.execute(stop_waiting, Params(id));
  const Rows failed = co_await tx.execute(fail_import, Params(id, error));
  if (failed.affected == 0) throw ImportClosed{};
  co_await tx.execute(forget_titles, Params(id));
  co_await tx.execute(remove_places, Params(id));
  const std::optional<Import> import = co_await read_import(tx, id);
  co_return import;
}

TxTask<Result<Import, CancelRefused>> cancel_body(Tx& tx, ImportId id, OwnerId owner) {
  const std::optional<Import> import = co_await read_import(tx, id);
  if (!import || import->owner != owner) co_return CancelRefused::unknown;
  if (import->ended()) co_return CancelRefused::ended;
  co_await tx.execute(stop_waiting, Params(id));
  const Rows canceled = co_await tx.execute(cancel_import, Params(id));
  if (canceled.affected == 0) throw ImportClosed{};
  const std::optional<Import> now = co_await read_import(tx, id);
  co_return *now;
}

TxTask<size_t> change_titles(Tx& tx, ImportId id, int64_t most) {
  const Rows rows = co_await tx.execute(next_titles, Params(id, most));
  GivenRows titles;
  GivenRows changed;
  for (const Row& row : rows) {
    titles.add(row.uuid(0), row.text(1));
    changed.add(row.uuid(0));
  }
  co_await execute_many(tx, set_titles, std::move(titles));
  co_await execute_many(tx, remove_titles, std::move(changed), Params(id));
  co_return rows.size();
}

TxTask<size_t> cancel_jobs(Tx& tx, ImportId id, int64_t most, EndingRules rules) {
  const Rows held = co_await tx.execute(hold_unwanted, Params(id, most));
  GivenRows links;
  for (const Row& row : held) links.add(row.uuid(0));
  const Rows rows = co_await execute_many(tx, jobs_of_unwanted, std::move(links));
  std::set<jobs::JobId> unwanted;
  for (const Row& row : rows) unwanted.insert(row.id<jobs::JobTag>(0));
  if (unwanted.empty()) co_return size_t{0};
  const size_t canceled = co_await cancel_waiting(tx, std::move(unwanted), rules);
  co_return canceled;
}

TxTask<size_t> tie_up_body(Tx& tx, ImportId id, int64_t most, EndingRules rules) {
  const std::optional<Import> import = co_await read_import(tx, id);
  if (!import || import->status == ImportStatus::queued) co_return size_t{0};
  size_t done = co_await change_titles(tx, id, most);
  const bool stopped = import->status == ImportStatus::canceled || import->status == ImportStatus::failed;
  if (done == 0 && stopped) done = co_await cancel_jobs(tx, id, most, rules);
  if (done == 0) co_await tx.execute(all_tied_up, Params(id, enum_name(import->status)));
  co_return done;
}

TxTask<std::vector<Import>> end_waits(Tx& tx, std::vector<LinkId> links) {
  std::map<ImportId, Import> changed;
  for (const LinkId& link : links) {
    co_await tx.execute(hold_link, Params(link));
    const Rows gone = co_await tx.execute(still_without_job, Params(link));
    if (gone.empty()) continue;
    const LinkEnd end = gone.one().boolean(0) ? LinkEnd::enriched : LinkEnd::failed;
    std::vector<Import> told = co_await tell_imports(tx, link, end);
    for (Import& import : told) changed.insert_or_assign(import.id, std::move(import));
  }
  std::vector<Import> imports;
  for (auto& [id, import] : changed) imports.push_back(std::move(import));
  co_return imports;
}

}  // namespace

Task<std::optional<Import>> SqlImportStore::begin(ImportId id, OwnerId owner) {
  return database_.transact(begin_body, id, owner);
}

Task<bool> SqlImportStore::add(ImportId id, std::vector<Bookmark> bookmarks) {
  ImportBatchPtr batch = prepare_batch(id, bookmarks, kinds_, clock_.wall(), random_);
  try {
    const bool added = co_await database_.transact(add_batch, std::move(batch));
    co_return added;
  } catch (const ImportClosed&) {
    co_return false;
  }
}

Task<std::optional<Import>> SqlImportStore::end_reading(ImportId id, int64_t skipped) {
  return database_.transact(run_body, id, skipped);
}

Task<std::optional<Import>> SqlImportStore::reject(ImportId id, std::string error) {
  try {
    std::optional<Import> import = co_await database_.transact(reject_body, id, std::move(error));
    co_return import;
  } catch (const ImportClosed&) {
    co_return std::nullopt;
  }
}

Task<std::optional<Import>> SqlImportStore::find(ImportId id, OwnerId owner) {
  Params params(id);
  const Rows rows = co_await database_.read(select_import, std::move(params));
  if (rows.empty()) co_return std::nullopt;
  Import import = import_of(rows.one());
  if (import.owner != owner) co_return std::nullopt;
  co_return import;
}

Task<std::vector<Import>> SqlImportStore::find_all(std::vector<ImportId> ids) {
  std::vector<Import> imports;
  if (database_.dialect() == Dialect::sqlite) {
    for (const ImportId& id : ids) {
      Params params(id);
      const Rows rows = co_await database_.read(select_import, std::move(params));
      if (!rows.empty()) imports.push_back(import_of(rows.one()));
    }
    co_return imports;
  }
  GivenRows given;
  for (const ImportId& id : ids) given.add(id);
  Params params = given.columns();
  const Rows rows = co_await database_.read(select_imports, std::move(params));
  for (const Row& row : rows) imports.push_back(import_of(row));
  co_return imports;
}

Task<Result<Import, CancelRefused>> SqlImportStore::cancel(ImportId id, OwnerId owner) {
  try {
    Result<Import, CancelRefused> outcome = co_await database_.transact(cancel_body, id, owner);
    co_return outcome;
  } catch (const ImportClosed&) {
    co_return CancelRefused::ended;
  }
}

Task<size_t> SqlImportStore::tie_up(ImportId id, size_t most) {
  return database_.transact(tie_up_body, id, static_cast<int64_t>(most), rules_);
}

Task<std::vector<ImportId>> SqlImportStore::with_loose_ends(size_t most) {
  Params params(most);
  const Rows rows = co_await database_.read(find_loose, std::move(params));
  std::vector<ImportId> ids;
  for (const Row& row : rows) ids.push_back(row.id<ImportTag>(0));
  co_return ids;
}

Task<std::vector<Import>> SqlImportStore::settle(Duration reading_limit) {
  Params limit(reading_limit.count());
  const Rows stale = co_await database_.read(broken_off, std::move(limit));
  std::vector<Import> changed;
  for (const Row& row : stale) {
    std::optional<Import> rejected = co_await reject(row.id<ImportTag>(0), "the upload broke off");
    if (rejected) changed.push_back(*std::move(rejected));
  }
  std::vector<LinkId> links = co_await look_for_gone();
  if (links.empty()) co_return changed;
  std::vector<Import> told = co_await database_.transact(end_waits, std::move(links));
  std::ranges::move(told, std::back_inserter(changed));
  co_return changed;
}

// All are looked at in turn, however many wait. A part that holds more than one transaction takes is looked at again.
Task<std::vector<LinkId>> SqlImportStore::look_for_gone() {
  LinkId from;
  {
    const std::lock_guard lock(mutex_);
    from = looked_up_to_;
  }
  Params part(from, looked_at_);
  const Rows end = co_await database_.read(end_of_part, std::move(part));
  const LinkId last = end.empty() ? last_of_all() : end.one().id<LinkTag>(0);
  Params params(from, last, most_settled);
  const Rows gone = co_await database_.read(without_job, std::move(params));
  std::vector<LinkId> links;
  for (const Row& row : gone) links.push_back(row.id<LinkTag>(0));
  if (links.size() == static_cast<size_t>(most_settled)) co_return links;
  const std::lock_guard lock(mutex_);
  looked_up_to_ = end.empty() ? LinkId() : last;
  co_return links;
}

}  // namespace sluice::sql
