#include "adapters/sql/accounts/sql_audit_log.h"

#include "adapters/sql/driver/sql_text.h"

namespace sluice::sql {
namespace {

using accounts::AuditEntry;
using accounts::AuditLog;
using accounts::RecordedAuditEntry;

constexpr Statement insert_entry = R"(
    INSERT INTO audit_log (at, actor, action, target, address, request_id)
    VALUES (now(), $1, $2, $3, $4, $5)
    RETURNING id)"_sql;

// Looks at the oldest hundred entries only. Each written entry removes up to a hundred, so removal keeps up.
// $1: the highest id to remove because there are too many entries; $2: retention in microseconds.
constexpr Statement delete_old = R"(
    DELETE FROM audit_log @using_found(audit_log, (id),
      SELECT oldest.id FROM (SELECT id, at FROM audit_log ORDER BY id LIMIT 100) AS oldest
      WHERE oldest.id <= $1 OR oldest.at < now() - @us($2)))"_sql;

constexpr Statement list_entries = R"(
    SELECT at, actor, action, target, address, request_id
    FROM audit_log
    ORDER BY id DESC
    LIMIT $1)"_sql;

TxTask<> record_body(Tx& tx, AuditEntry entry) {
  Params values(entry.actor, entry.action, entry.target, entry.address, entry.request_id);
  const Rows inserted = co_await tx.execute(insert_entry, std::move(values));
  const int64_t too_many = inserted.one().integer(0) - AuditLog::keep_most;
  co_await tx.execute(delete_old, Params(too_many, AuditLog::keep_for.count()));
}

}  // namespace

Task<> SqlAuditLog::record(AuditEntry entry) {
  return database_.transact(record_body, std::move(entry));
}

Task<std::vector<RecordedAuditEntry>> SqlAuditLog::list(int64_t limit) {
  Params params(limit);
  const Rows found = co_await database_.read(list_entries, std::move(params));
  std::vector<RecordedAuditEntry> entries;
  for (const Row& row : found) {
    entries.push_back({row.time(0), {row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)}});
  }
  co_return entries;
}

}  // namespace sluice::sql
