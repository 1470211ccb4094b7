#include "adapters/sql/links/sql_import_store.h"

#include <map>

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "adapters/sql/links/import_batch.h"
#include "adapters/sql/links/import_loose_ends.h"
#include "adapters/sql/links/import_retention.h"
#include "adapters/sql/links/import_rows.h"

namespace sluice::sql {
namespace {

using namespace links;

constexpr int64_t most_settled = 1000;  // links, in one transaction

constexpr Statement begin_import = R"(
    INSERT INTO import_jobs (id, user_id, source_type, status, created_at, updated_at)
    VALUES ($1, $2, 'chrome_html', 'queued', now(), now())
    ON CONFLICT (id) DO NOTHING)"_sql;
constexpr Statement begin_running = R"(
    UPDATE import_jobs SET skipped_items = $2, content = $3, started_at = now(), updated_at = now(),
      status = CASE WHEN processed_items = total_items THEN 'succeeded' ELSE 'running' END,
      finished_at = CASE WHEN processed_items = total_items THEN now() END,
      loose_ends = (SELECT true FROM import_places WHERE import_id = $1 ORDER BY instance_id LIMIT 1) IS NOT NULL
    WHERE id = $1 AND status = 'queued')"_sql;
constexpr Statement fail_import = R"(
    UPDATE import_jobs SET status = 'failed', last_error = $2, loose_ends = true, finished_at = now(),
      updated_at = now()
    WHERE id = $1 AND status = 'queued')"_sql;
constexpr Statement cancel_import = R"(
    UPDATE import_jobs SET status = 'canceled', loose_ends = true, finished_at = now(), updated_at = now()
    WHERE id = $1 AND status IN ('queued', 'running'))"_sql;

constexpr Statement find_loose = "SELECT id FROM import_jobs WHERE loose_ends AND id > $1 ORDER BY id LIMIT $2";

constexpr Statement fail_broken_off = R"(
    UPDATE import_jobs SET status = 'failed', last_error = 'the upload broke off', loose_ends = true,
      finished_at = now(), updated_at = now()
    @from_found(import_jobs, (id),
      SELECT id FROM import_jobs WHERE status = 'queued' AND updated_at < now() - @us($1)
      ORDER BY updated_at LIMIT 100 @lock(FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING import_jobs.id)"_sql;
// The end of the part that begins behind $1.
constexpr Statement end_of_part =
    "SELECT link_id FROM import_links WHERE outcome = 'pending' AND link_id > $1 ORDER BY link_id LIMIT 1 OFFSET $2";
// Reads many rows, so it runs outside of transactions and again, for the links it found, within one. PostgreSQL gets a
// form that allows only lookups, because with SQLite's joins it would read both tables.
constexpr Statement without_job = R"(
    @postgres(
      SELECT DISTINCT w.link_id FROM import_links w
      CROSS JOIN LATERAL (SELECT job_id FROM link_canonicals WHERE id = w.link_id OFFSET 0) AS l
      WHERE w.outcome = 'pending' AND w.link_id > $1 AND w.link_id <= $2
        AND (SELECT true FROM jobs WHERE id = l.job_id) IS NULL
      ORDER BY w.link_id LIMIT $3)
    @sqlite(
      SELECT DISTINCT l.id FROM import_links w JOIN link_canonicals l ON l.id = w.link_id
      LEFT JOIN jobs j ON j.id = l.job_id
      WHERE w.outcome = 'pending' AND w.link_id > $1 AND w.link_id <= $2 AND j.id IS NULL
      ORDER BY l.id LIMIT $3))"_sql;
constexpr Statement hold_link = "SELECT id FROM link_canonicals WHERE id = $1 @lock(FOR NO KEY UPDATE)"_sql;
constexpr Statement still_without_job = R"(
    SELECT fetched_at IS NOT NULL
    FROM link_canonicals l WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = l.job_id))"_sql;

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

TxTask<std::optional<Import>> run_body(Tx& tx, ImportId id, WholeFile file) {
  const Rows begun = co_await tx.execute(begin_running, Params(id, file.skipped, file.content));
  if (begun.affected == 0) co_return std::nullopt;
  const std::optional<Import> import = co_await read_import(tx, id);
  co_return import;
}

TxTask<std::optional<Import>> reject_body(Tx& tx, ImportId id, std::string error) {
  const Rows failed = co_await tx.execute(fail_import, Params(id, error));
  if (failed.affected == 0) co_return std::nullopt;
  const std::optional<Import> import = co_await read_import(tx, id);
  co_return import;
}

TxTask<Result<Import, CancelRefused>> cancel_body(Tx& tx, ImportId id, OwnerId owner) {
  const std::optional<Import> import = co_await read_import(tx, id);
  if (!import || import->owner != owner) co_return CancelRefused::unknown;
  const Rows canceled = co_await tx.execute(cancel_import, Params(id));
  if (canceled.affected == 0) co_return CancelRefused::ended;
  const std::optional<Import> now = co_await read_import(tx, id);
  co_return *now;
}

TxTask<std::vector<Import>> fail_body(Tx& tx, int64_t limit_us) {
  const Rows failed = co_await tx.execute(fail_broken_off, Params(limit_us));
  std::vector<Import> imports;
  for (const Row& row : failed) {
    const std::optional<Import> import = co_await read_import(tx, row.id<ImportTag>(0));
    imports.push_back(*import);
  }
  co_return imports;
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

Task<std::optional<Import>> SqlImportStore::end_reading(ImportId id, WholeFile file) {
  return database_.transact(run_body, id, file);
}

Task<std::optional<Import>> SqlImportStore::reject(ImportId id, std::string error) {
  return database_.transact(reject_body, id, std::move(error));
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
  return database_.transact(cancel_body, id, owner);
}

Task<size_t> SqlImportStore::tie_up(ImportId id, size_t most) {
  return database_.transact(tie_up_step, id, static_cast<int64_t>(most), rules_);
}

Task<std::vector<ImportId>> SqlImportStore::with_loose_ends(ImportId after, size_t most) {
  Params params(after, most);
  const Rows rows = co_await database_.read(find_loose, std::move(params));
  std::vector<ImportId> ids;
  for (const Row& row : rows) ids.push_back(row.id<ImportTag>(0));
  co_return ids;
}

Task<std::vector<Import>> SqlImportStore::fail_broken_off(Duration reading_limit) {
  return database_.transact(fail_body, reading_limit.count());
}

Task<std::vector<Import>> SqlImportStore::end_vain_waits() {
  std::vector<LinkId> links = co_await look_for_gone();
  if (links.empty()) co_return std::vector<Import>{};
  std::vector<Import> told = co_await database_.transact(end_waits, std::move(links));
  co_return told;
}

Task<size_t> SqlImportStore::forget_ended(Duration keep, size_t most) {
  return database_.transact(forget_import_step, keep.count(), static_cast<int64_t>(most));
}

Task<size_t> SqlImportStore::forget_unused_links(Duration keep, size_t most) {
  return database_.transact(forget_links_step, keep.count(), static_cast<int64_t>(most));
}

// Checks all waiting links, part by part. A part with more finds than one transaction takes is checked again.
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
