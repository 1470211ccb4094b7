// The audit log in SQL.
#pragma once

#include "accounts/audit_log.h"
#include "adapters/sql/driver/database.h"

namespace sluice::sql {

class SqlAuditLog : public accounts::AuditLog {
 public:
  explicit SqlAuditLog(Database& database) : database_(database) {}

  Task<> record(accounts::AuditEntry entry) override;
  Task<std::vector<accounts::RecordedAuditEntry>> list(int64_t limit) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
