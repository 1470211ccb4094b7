#include "adapters/sql/documents/sql_document_records.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

constexpr SqlPart plain{
    "plain",
    "state, content_type, etag, case_type, forced, fetched_at, claimed_by, claim_expires_at, listed, asked_at, "
    "updated_at"};
constexpr Statement read_record = sql_with<R"(
    SELECT @plain, CAST(length(body) AS bigint), coalesce(claim_expires_at > now(), false),
      CAST(claim_token AS bigint), CAST(failures AS bigint), CASE WHEN hold_until > now() THEN hold_until END
    FROM documents WHERE origin = $1 AND path = $2)",
                                           plain>;
constexpr Statement read_paths = "SELECT path FROM documents WHERE origin = $1 AND body IS NOT NULL ORDER BY path";

}  // namespace

Task<std::optional<DocumentRecord>> SqlDocumentRecords::find(documents::DocumentKey key) {
  Params params(key.origin, key.path.text());
  const Rows found = co_await database_.read(read_record, std::move(params));
  if (found.empty()) co_return std::nullopt;
  const Row& row = found.one();
  constexpr size_t rest = plain.size();
  co_return DocumentRecord{.state = row.text(plain["state"]),
                           .bytes = row.optional_integer(rest),
                           .content_type = row.optional_text(plain["content_type"]),
                           .etag = row.optional_text(plain["etag"]),
                           .case_type = row.optional_text(plain["case_type"]),
                           .forced = row.boolean(plain["forced"]),
                           .fetched_at = row.optional_time(plain["fetched_at"]),
                           .claimed_by = row.optional_text(plain["claimed_by"]),
                           .claim_expires_at = row.optional_time(plain["claim_expires_at"]),
                           .claim_live = row.boolean(rest + 1),
                           .claim_token = row.integer(rest + 2),
                           .failures = row.integer(rest + 3),
                           .held_until = row.optional_time(rest + 4),
                           .listed = row.boolean(plain["listed"]),
                           .asked_at = row.time(plain["asked_at"]),
                           .updated_at = row.time(plain["updated_at"])};
}

Task<std::vector<std::string>> SqlDocumentRecords::stored_paths(std::string origin) {
  Params params(std::move(origin));
  const Rows rows = co_await database_.read(read_paths, std::move(params));
  std::vector<std::string> paths;
  for (const Row& row : rows) paths.push_back(row.text(0));
  co_return paths;
}

}  // namespace sluice::sql
