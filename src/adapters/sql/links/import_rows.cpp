#include "adapters/sql/links/import_rows.h"

#include <map>

#include "base/check.h"

namespace sluice::sql {

using links::Import;
using links::ImportId;
using links::ImportStatus;
using links::ImportTag;

constexpr Statement select_import =
    "SELECT id, user_id, status, total_items, processed_items, failed_items, skipped_items, created_at, started_at, "
    "  finished_at, last_error, content "
    "FROM import_jobs WHERE id = $1";
constexpr Statement select_imports =
    "SELECT found.* FROM unnest($1::uuid[]) AS given (id) CROSS JOIN LATERAL ("
    "  SELECT id, user_id, status, total_items, processed_items, failed_items, skipped_items, created_at, started_at, "
    "    finished_at, last_error, content "
    "  FROM import_jobs WHERE id = given.id OFFSET 0) AS found";

// Locked in the order in which they are given.
constexpr Statement lock_links{Statement::PerDialect{
    .postgres = "SELECT link.id, link.fetched_at IS NOT NULL, link.unused_since IS NOT NULL "
                "FROM unnest($1::uuid[]) AS given (id) "
                "CROSS JOIN LATERAL (SELECT id, fetched_at, unused_since FROM link_canonicals "
                "  WHERE id = given.id FOR NO KEY UPDATE) AS link",
    .sqlite = "SELECT id, fetched_at IS NOT NULL, unused_since IS NOT NULL FROM link_canonicals WHERE id = $1"}};

namespace {

constexpr Statement end_waiting =
    "UPDATE import_links SET outcome = $2 WHERE link_id = $1 AND outcome = 'pending' RETURNING import_id, bookmarks";
constexpr Statement advance_import =
    "UPDATE import_jobs SET processed_items = processed_items + $2, failed_items = failed_items + $3, "
    "  status = CASE WHEN status = 'running' AND processed_items + $2 >= total_items THEN 'succeeded' ELSE status END, "
    "  finished_at = CASE WHEN status = 'running' AND processed_items + $2 >= total_items THEN now() "
    "    ELSE finished_at END, "
    "  updated_at = now() "
    "WHERE id = $1 AND status IN ('queued', 'running')";

}  // namespace

Import import_of(const Row& row) {
  const auto status = parse_enum<ImportStatus>(row.text(2));
  check_that(status.has_value(), "unknown import status {}", row.text(2));
  return {.id = row.id<ImportTag>(0),
          .owner = row.id<links::OwnerTag>(1),
          .status = *status,
          .total_items = row.integer(3),
          .processed_items = row.integer(4),
          .failed_items = row.integer(5),
          .skipped_items = row.integer(6),
          .created_at = row.time(7),
          .started_at = row.optional_time(8),
          .finished_at = row.optional_time(9),
          .last_error = row.optional_text(10),
          .content = row.optional_uuid(11)};
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
