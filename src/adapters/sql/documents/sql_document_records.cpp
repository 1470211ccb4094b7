#include "adapters/sql/documents/sql_document_records.h"

namespace sluice::sql {
namespace {

constexpr Statement read_record =
    "SELECT state, CAST(length(body) AS bigint), content_type, etag, case_type, forced, fetched_at, claimed_by, "
    "  claim_expires_at, coalesce(claim_expires_at > now(), false), CAST(claim_token AS bigint), "
    "  CAST(failures AS bigint), CASE WHEN hold_until > now() THEN hold_until END, listed, asked_at, updated_at "
    "FROM documents WHERE origin = $1 AND path = $2";
constexpr Statement read_paths = "SELECT path FROM documents WHERE origin = $1 AND body IS NOT NULL ORDER BY path";

}  // namespace

Task<std::optional<DocumentRecord>> SqlDocumentRecords::find(documents::DocumentKey key) {
  Params params(key.origin, key.path.text());
  const Rows found = co_await database_.read(read_record, std::move(params));
  if (found.empty()) co_return std::nullopt;
  const Row& row = found.one();
  co_return DocumentRecord{.state = row.text(0),
                           .bytes = row.optional_integer(1),
                           .content_type = row.optional_text(2),
                           .etag = row.optional_text(3),
                           .case_type = row.optional_text(4),
                           .forced = row.boolean(5),
                           .fetched_at = row.optional_time(6),
                           .claimed_by = row.optional_text(7),
                           .claim_expires_at = row.optional_time(8),
                           .claim_live = row.boolean(9),
                           .claim_token = row.integer(10),
                           .failures = row.integer(11),
                           .held_until = row.optional_time(12),
                           .listed = row.boolean(13),
                           .asked_at = row.time(14),
                           .updated_at = row.time(15)};
}

Task<std::vector<std::string>> SqlDocumentRecords::stored_paths(std::string origin) {
  Params params(std::move(origin));
  const Rows rows = co_await database_.read(read_paths, std::move(params));
  std::vector<std::string> paths;
  for (const Row& row : rows) paths.push_back(row.text(0));
  co_return paths;
}

}  // namespace sluice::sql
