#include "adapters/sql/links/import_rows.h"

#include <map>

#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {

using links::Import;
using links::ImportId;
using links::ImportStatus;
using links::ImportTag;

constexpr SqlPart import_columns{
    "import_columns",
    "id, user_id, status, total_items, processed_items, failed_items, skipped_items, created_at, started_at, "
    "finished_at, last_error, content"};

constexpr Statement select_import = sql_with<"SELECT @import_columns FROM import_jobs WHERE id = $1", import_columns>;
constexpr Statement select_imports = sql_with<R"(
    SELECT found.* FROM unnest($1::uuid[]) AS given (id)
    CROSS JOIN LATERAL (SELECT @import_columns FROM import_jobs WHERE id = given.id OFFSET 0) AS found)",
                                              import_columns>;

// Locked in the order in which they are given.
constexpr Statement lock_links = R"(
    @given(id uuid)
    SELECT link.id, link.fetched_at IS NOT NULL, link.unused_since IS NOT NULL
    @from_each(SELECT id, fetched_at, unused_since FROM link_canonicals
      WHERE id = given.id @lock(FOR NO KEY UPDATE)) AS link)"_sql;

namespace {

constexpr Statement end_waiting =
    "UPDATE import_links SET outcome = $2 WHERE link_id = $1 AND outcome = 'pending' RETURNING import_id, bookmarks";
constexpr Statement advance_import = R"(
    UPDATE import_jobs SET processed_items = processed_items + $2, failed_items = failed_items + $3,
      status = CASE WHEN status = 'running' AND processed_items + $2 >= total_items THEN 'succeeded'
        ELSE status END,
      finished_at = CASE WHEN status = 'running' AND processed_items + $2 >= total_items THEN now()
        ELSE finished_at END,
      updated_at = now()
    WHERE id = $1 AND status IN ('queued', 'running'))"_sql;

}  // namespace

Import import_of(const Row& row) {
  const auto status = parse_enum<ImportStatus>(row.text(import_columns["status"]));
  check_that(status.has_value(), "unknown import status {}", row.text(import_columns["status"]));
  return {.id = row.id<ImportTag>(import_columns["id"]),
          .owner = row.id<links::OwnerTag>(import_columns["user_id"]),
          .status = *status,
          .total_items = row.integer(import_columns["total_items"]),
          .processed_items = row.integer(import_columns["processed_items"]),
          .failed_items = row.integer(import_columns["failed_items"]),
          .skipped_items = row.integer(import_columns["skipped_items"]),
          .created_at = row.time(import_columns["created_at"]),
          .started_at = row.optional_time(import_columns["started_at"]),
          .finished_at = row.optional_time(import_columns["finished_at"]),
          .last_error = row.optional_text(import_columns["last_error"]),
          .content = row.optional_uuid(import_columns["content"])};
}

TxTask<std::optional<Import>> read_import(Tx& tx, ImportId id) {
  const Rows rows = co_await tx.execute(select_import, Params(id));
  if (rows.empty()) co_return std::nullopt;
  co_return import_of(rows.one());
}

TxTask<std::vector<Import>> tell_imports(Tx& tx, links::LinkId link, LinkEnd end) {
  const Rows waited = co_await tx.execute(end_waiting, Params(link, end == LinkEnd::failed ? "failed" : "enriched"));
  std::map<ImportId, int64_t> bookmarks;  // in the order in which imports are locked
  for (const Row& row : waited) bookmarks.emplace(row.id<ImportTag>(0), row.integer(1));
  std::vector<Import> changed;
  for (const auto& [import, count] : bookmarks) {
    const Rows advanced =
        co_await tx.execute(advance_import, Params(import, count, end == LinkEnd::failed ? count : 0));
    if (advanced.affected == 0) continue;  // it was canceled and waits no more
    const std::optional<Import> now = co_await read_import(tx, import);
    changed.push_back(*now);
  }
  co_return changed;
}

}  // namespace sluice::sql
