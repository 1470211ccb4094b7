#include "adapters/sql/documents/sql_document_store.h"

#include "adapters/sql/driver/given_rows.h"
#include "adapters/sql/driver/sql_text.h"
#include "base/check.h"

namespace sluice::sql {
namespace {

using namespace documents;

constexpr SqlPart copy_columns{"copy_columns",
                               "body, content_type, etag, case_type, fetched_at, forced, change_number"};
constexpr Statement find_document =
    sql_with<"SELECT @copy_columns FROM documents WHERE origin = $1 AND path = $2 AND body IS NOT NULL", copy_columns>;

constexpr Statement know_document = R"(
    SELECT count(*) FROM documents
    WHERE origin = $1 AND path = $2 AND (body IS NOT NULL OR listed))"_sql;

// The WHERE has all conditions of a claim: the row lock lets one of many callers through, and the others see its claim.
// The row may be deleted between two claims; tokens start from the clock, so they grow nevertheless.
constexpr Statement claim_document = R"(
    INSERT INTO documents AS d
      (origin, path, state, claimed_by, claim_token, claim_expires_at, listed, asked_at, created_at, updated_at)
    VALUES ($1, $2, 'DOWNLOADING', $3, @clock_us, now() + @us($4), $8, now(), now(), now())
    ON CONFLICT (origin, path) DO UPDATE SET state = 'DOWNLOADING', claimed_by = excluded.claimed_by,
      claim_token = @greatest(d.claim_token + 1, excluded.claim_token),
      claim_expires_at = excluded.claim_expires_at, listed = d.listed OR excluded.listed, asked_at = now(),
      updated_at = now()
    WHERE (d.claim_expires_at IS NULL OR d.claim_expires_at <= now())
      AND (@cast($6, boolean) OR d.body IS NULL OR d.fetched_at <= now() - @us($5))
      AND (@cast($7, boolean) OR d.hold_until IS NULL OR d.hold_until <= now())
    RETURNING claim_token)"_sql;
constexpr Statement look_at_document = R"(
    SELECT coalesce(claim_expires_at > now(), false), coalesce(hold_until > now(), false), hold_until,
      body IS NOT NULL
    FROM documents WHERE origin = $1 AND path = $2)"_sql;
constexpr Statement why_not_claimed = R"(
    SELECT coalesce(claim_expires_at > now(), false), coalesce(fetched_at > now() - @us($3), false),
      coalesce(hold_until > now(), false), hold_until
    FROM documents WHERE origin = $1 AND path = $2)"_sql;
constexpr Statement renew_claim = R"(
    UPDATE documents SET claim_expires_at = now() + @us($4)
    WHERE origin = $1 AND path = $2 AND claim_token = $3 AND claimed_by IS NOT NULL)"_sql;
constexpr Statement complete_document = R"(
    UPDATE documents SET state = 'CACHED', body = $4, content_type = $5, etag = $6,
      case_type = coalesce($7, case_type), forced = forced OR $8, change_number = $9, fetched_at = now(),
      failures = 0, hold_until = NULL, claimed_by = NULL, claim_expires_at = NULL, asked_at = now(),
      updated_at = now()
    WHERE origin = $1 AND path = $2 AND claim_token = $3 AND claimed_by IS NOT NULL
    RETURNING case_type, forced, fetched_at, change_number)"_sql;
// A purged row stays for its change number.
constexpr Statement remove_stranger = R"(
    DELETE FROM documents
    WHERE origin = $1 AND path = $2 AND claim_token = $3 AND claimed_by IS NOT NULL
      AND body IS NULL AND NOT listed AND change_number = 0)"_sql;
constexpr Statement abort_claim = R"(
    UPDATE documents SET state = CASE WHEN body IS NULL THEN 'EMPTY' ELSE 'CACHED' END, claimed_by = NULL,
      claim_expires_at = NULL, updated_at = now()
    WHERE origin = $1 AND path = $2 AND claim_token = $3 AND claimed_by IS NOT NULL)"_sql;
constexpr Statement fail_claim = R"(
    UPDATE documents SET state = CASE WHEN body IS NULL THEN 'EMPTY' ELSE 'CACHED' END, claimed_by = NULL,
      claim_expires_at = NULL, failures = failures + 1, updated_at = now(),
      hold_until = now() + @us(@least(@cast($5, bigint),
        @cast($4, bigint) * (@cast(1, bigint) << @least(failures, 20))))
    WHERE origin = $1 AND path = $2 AND claim_token = $3 AND claimed_by IS NOT NULL)"_sql;
// In steps on PostgreSQL, each far below the time limit of a statement; SQLite has no such limit and sweeps all at
// once.
constexpr Statement sweep_strangers = R"(
    DELETE FROM documents
    @postgres(
      USING (SELECT origin, path FROM documents
        WHERE claim_expires_at <= now() AND body IS NULL AND NOT listed AND change_number = 0
        ORDER BY claim_expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED) AS expired
      WHERE documents.origin = ANY (ARRAY[expired.origin])
        AND documents.path BETWEEN expired.path AND expired.path)
    @sqlite(
      WHERE claim_expires_at <= now() AND body IS NULL AND NOT listed AND change_number = 0))"_sql;
constexpr Statement sweep_claims = R"(
    UPDATE documents SET state = CASE WHEN body IS NULL THEN 'EMPTY' ELSE 'CACHED' END, claimed_by = NULL,
      claim_expires_at = NULL, updated_at = now()
    @postgres(
      FROM (SELECT origin, path FROM documents
        WHERE claim_expires_at <= now() AND (body IS NOT NULL OR listed OR change_number <> 0)
        ORDER BY claim_expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED) AS expired
      WHERE documents.origin = ANY (ARRAY[expired.origin])
        AND documents.path BETWEEN expired.path AND expired.path)
    @sqlite(
      WHERE claim_expires_at <= now()))"_sql;
// Its row lock also orders the changes of an origin: numbers become visible in their order.
constexpr Statement next_change = R"(
    INSERT INTO document_changes AS c (origin, number) VALUES ($1, 1)
    ON CONFLICT (origin) DO UPDATE SET number = c.number + 1
    RETURNING number)"_sql;
constexpr Statement read_change = "SELECT number FROM document_changes WHERE origin = $1";
constexpr Statement read_changes = R"(
    SELECT path, change_number, forced FROM documents
    WHERE origin = $1 AND change_number > $2
    ORDER BY change_number LIMIT 1000)"_sql;
// Once a day is precise enough for a retention of months, and saves writes.
constexpr Statement note_asked_documents = R"(
    @given(path text, origin text)
    UPDATE documents SET asked_at = now() @from_given
    WHERE @lookup(documents.origin = given.origin AND documents.path = given.path)
      AND @only_after(given.path, asked_at < now() - @day))"_sql;
// In steps, each far below the time limit of a statement.
constexpr Statement forget_documents = R"(
    DELETE FROM documents @using_found(documents, (origin, path),
      SELECT origin, path FROM documents WHERE origin = $1 AND asked_at <= now() - @us($2)
        AND (claim_expires_at IS NULL OR claim_expires_at <= now())
      ORDER BY asked_at LIMIT 1000 @lock(FOR UPDATE SKIP LOCKED)))"_sql;
constexpr Statement purge_document = R"(
    UPDATE documents SET state = 'EMPTY', body = NULL, etag = NULL, content_type = NULL, fetched_at = NULL,
      forced = false, failures = 0, hold_until = NULL, change_number = $3, updated_at = now()
    WHERE origin = $1 AND path = $2 AND body IS NOT NULL)"_sql;

TxTask<ClaimOutcome> claim_body(Tx& tx, DownloadClaim request) {
  const std::string& path = request.key.path.text();
  const Rows claimed = co_await tx.execute(
      claim_document, Params(request.key.origin, path, request.owner, request.ttl.count(), request.fresh_for.count(),
                             request.over_fresh, request.during_hold_down, request.listed));
  if (!claimed.empty()) co_return Acquired{claimed.one().integer(0)};
  const Rows seen = co_await tx.execute(why_not_claimed, Params(request.key.origin, path, request.fresh_for.count()));
  // The claim ended between the two statements, maybe with its row: the caller waits and looks again.
  if (seen.empty()) co_return Downloading{};
  const Row& row = seen.one();
  if (row.boolean(0)) co_return Downloading{};
  if (row.boolean(1) && !request.over_fresh) co_return Cached{};
  if (row.boolean(2) && !request.during_hold_down) co_return HeldDown{row.time(3)};
  co_return Downloading{};
}

// Values that the row gives to a stored document.
struct Stored {
  std::optional<std::string> case_type;
  bool forced = false;
  Time fetched_at;
  int64_t change = 0;
};

TxTask<std::optional<Stored>> complete_body(Tx& tx, DocumentKey key, int64_t token, DocumentPtr document) {
  const Rows change = co_await tx.execute(next_change, Params(key.origin));
  const Rows stored = co_await tx.execute(
      complete_document,
      Params(key.origin, key.path.text(), token, Bytes(document->body.begin(), document->body.end()),
             document->content_type, document->etag, document->case_type, document->forced, change.one().integer(0)));
  if (stored.empty()) co_return std::nullopt;
  const Row& row = stored.one();
  co_return Stored{row.optional_text(0), row.boolean(1), row.time(2), row.integer(3)};
}

TxTask<> abort_body(Tx& tx, DocumentKey key, int64_t token) {
  const Rows removed = co_await tx.execute(remove_stranger, Params(key.origin, key.path.text(), token));
  if (removed.affected == 0) co_await tx.execute(abort_claim, Params(key.origin, key.path.text(), token));
}

TxTask<int64_t> sweep_body(Tx& tx) {
  const Rows removed = co_await tx.execute(sweep_strangers, Params());
  const Rows swept = co_await tx.execute(sweep_claims, Params());
  co_return removed.affected + swept.affected;
}

TxTask<> note_asked_body(Tx& tx, std::string origin, std::vector<std::string> paths) {
  GivenRows given;
  for (const std::string& path : paths) given.add(path, origin);
  co_await execute_many(tx, note_asked_documents, std::move(given));
}

TxTask<bool> purge_body(Tx& tx, DocumentKey key) {
  const Rows change = co_await tx.execute(next_change, Params(key.origin));
  const Rows purged = co_await tx.execute(purge_document, Params(key.origin, key.path.text(), change.one().integer(0)));
  co_return purged.affected == 1;
}

TxTask<int64_t> affected_body(Tx& tx, Statement statement, Params params) {
  const Rows rows = co_await tx.execute(statement, std::move(params));
  co_return rows.affected;
}

}  // namespace

Task<DocumentPtr> SqlDocumentStore::find(DocumentKey key) {
  Params params(key.origin, key.path.text());
  const Rows found = co_await database_.read(find_document, std::move(params));
  if (found.empty()) co_return nullptr;
  const Row& row = found.one();
  auto document = std::make_shared<Document>();
  document->body = std::string(as_text(row.bytes(copy_columns["body"])));
  document->content_type = row.text(copy_columns["content_type"]);
  document->etag = row.text(copy_columns["etag"]);
  document->case_type = row.optional_text(copy_columns["case_type"]);
  document->fetched_at = row.time(copy_columns["fetched_at"]);
  document->forced = row.boolean(copy_columns["forced"]);
  document->change = row.integer(copy_columns["change_number"]);
  co_return document;
}

Task<bool> SqlDocumentStore::knows(DocumentKey key) {
  Params params(key.origin, key.path.text());
  const Rows rows = co_await database_.read(know_document, std::move(params));
  co_return rows.one().integer(0) > 0;
}

Task<DownloadState> SqlDocumentStore::download_state(DocumentKey key) {
  Params params(key.origin, key.path.text());
  const Rows seen = co_await database_.read(look_at_document, std::move(params));
  if (seen.empty()) co_return DownloadState::nothing;
  const Row& row = seen.one();
  if (row.boolean(0)) co_return DownloadState::under_way;
  if (row.boolean(1)) co_return DownloadState::failed;
  co_return row.boolean(3) ? DownloadState::stored : DownloadState::nothing;
}

Task<ClaimOutcome> SqlDocumentStore::claim(DownloadClaim request) {
  return database_.transact(claim_body, std::move(request));
}

Task<bool> SqlDocumentStore::renew(DocumentKey key, int64_t token, Duration ttl) {
  Params params(key.origin, key.path.text(), token, ttl.count());
  const int64_t renewed = co_await database_.transact(affected_body, renew_claim, std::move(params));
  co_return renewed == 1;
}

Task<DocumentPtr> SqlDocumentStore::complete(DocumentKey key, int64_t token, Document document) {
  const auto copy = std::make_shared<Document>(std::move(document));
  std::optional<Stored> stored = co_await database_.transact(complete_body, std::move(key), token, copy);
  if (!stored) co_return nullptr;
  copy->case_type = std::move(stored->case_type);
  copy->forced = stored->forced;
  copy->fetched_at = stored->fetched_at;
  copy->change = stored->change;
  co_return copy;
}

Task<> SqlDocumentStore::abort(DocumentKey key, int64_t token) {
  co_await database_.transact(abort_body, std::move(key), token);
}

Task<> SqlDocumentStore::fail(DocumentKey key, int64_t token, Duration first, Duration longest) {
  Params params(key.origin, key.path.text(), token, first.count(), longest.count());
  co_await database_.transact(affected_body, fail_claim, std::move(params));
}

Task<int64_t> SqlDocumentStore::sweep() {
  return database_.transact(sweep_body);
}

Task<int64_t> SqlDocumentStore::last_change(std::string origin) {
  Params params(origin);
  const Rows rows = co_await database_.read(read_change, std::move(params));
  co_return rows.empty() ? 0 : rows.one().integer(0);
}

Task<std::vector<Change>> SqlDocumentStore::changes_since(std::string origin, int64_t number) {
  Params params(origin, number);
  const Rows rows = co_await database_.read(read_changes, std::move(params));
  std::vector<Change> changes;
  for (const Row& row : rows) changes.push_back({row.text(0), row.integer(1), row.boolean(2)});
  co_return changes;
}

Task<> SqlDocumentStore::note_asked(std::string origin, std::vector<std::string> paths) {
  co_await database_.transact(note_asked_body, std::move(origin), std::move(paths));
}

Task<int64_t> SqlDocumentStore::forget(std::string origin, Duration unused_for) {
  Params params(origin, unused_for.count());
  return database_.transact(affected_body, forget_documents, std::move(params));
}

Task<bool> SqlDocumentStore::purge(DocumentKey key) {
  return database_.transact(purge_body, std::move(key));
}

}  // namespace sluice::sql
