#include "adapters/sql/coordination/sql_denial_records.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using coordination::Denial;
using coordination::DenialMark;
using coordination::DenialPage;

// Copies must also learn of a later end, so it gets a new place in the order.
constexpr Statement insert_denial = R"(
    INSERT INTO denied_tokens AS kept (token, ends_at, written_at) VALUES ($1, $2, @clock)
    ON CONFLICT (token) DO UPDATE SET ends_at = excluded.ends_at, written_at = excluded.written_at
      WHERE kept.ends_at < excluded.ends_at)"_sql;
constexpr Statement find_denial = "SELECT 1 FROM denied_tokens WHERE token = $1";
constexpr Statement read_denials = R"(
    SELECT token, ends_at, written_at
    FROM denied_tokens WHERE (written_at, token) > ($1, $2) ORDER BY written_at, token LIMIT $3)"_sql;
constexpr Statement read_clock = "SELECT @clock"_sql;
// Long ended: no instance's clock is an hour behind.
constexpr Statement purge_denials = R"(
    DELETE FROM denied_tokens @using_found(denied_tokens, (token),
      SELECT token FROM denied_tokens WHERE ends_at < now() - @hour
      ORDER BY ends_at LIMIT $1 @lock(FOR UPDATE SKIP LOCKED)))"_sql;

TxTask<> deny_body(Tx& tx, Denial denial) {
  co_await tx.execute(insert_denial, Params(denial.token, denial.until));
}

TxTask<int64_t> purge_body(Tx& tx, int64_t limit) {
  const Rows removed = co_await tx.execute(purge_denials, Params(limit));
  co_return removed.affected;
}

}  // namespace

Task<> SqlDenialRecords::deny(Denial denial) {
  return database_.transact(deny_body, std::move(denial));
}

Task<bool> SqlDenialRecords::denied(std::string token) {
  Params params(std::move(token));
  const Rows found = co_await database_.read(find_denial, std::move(params));
  co_return !found.empty();
}

Task<DenialPage> SqlDenialRecords::read(DenialMark after, int64_t limit) {
  // The clock first: entries written after it are read again next time.
  const Rows clock = co_await database_.read(read_clock);
  Params params(after.written, after.token, limit);
  const Rows rows = co_await database_.read(read_denials, std::move(params));
  DenialPage page{.denials = {}, .mark = std::move(after), .now = clock.one().time(0)};
  page.denials.reserve(rows.size());
  for (const Row& row : rows) {
    page.denials.push_back({row.text(0), row.time(1)});
    page.mark = {row.time(2), row.text(0)};
  }
  co_return page;
}

Task<int64_t> SqlDenialRecords::purge(int64_t limit) {
  return database_.transact(purge_body, limit);
}

}  // namespace sluice::sql
