// The audit log in a database, for the contract suite.
#pragma once

#include "adapters/sql/accounts/sql_audit_log.h"
#include "tests/contract/audit_log_suite.h"
#include "tests/contract/sql_ports.h"

namespace sluice::test {

class SqlTestedAuditLog : public TestedAuditLog {
 public:
  explicit SqlTestedAuditLog(sql::Database& database) : database_(database), log_(database) {}

  accounts::AuditLog& log() override { return log_; }
  Task<> set_time(std::string action, Time at) override {
    sql::Params params(at, action);
    co_await database_.write("UPDATE audit_log SET at = $1 WHERE action = $2", std::move(params));
  }
  Task<> skip_many() override {
    static constexpr sql::Statement skip{sql::Statement::PerDialect{
        .postgres = "SELECT setval(pg_get_serial_sequence('audit_log', 'id'), max(id) + 1000000) FROM audit_log",
        .sqlite = "UPDATE audit_log SET id = id + 1000000 WHERE id = (SELECT max(id) FROM audit_log)"}};
    co_await database_.write(skip);
  }

 private:
  sql::Database& database_;
  sql::SqlAuditLog log_;
};

inline std::vector<PortEngine<TestedAuditLog>> audit_logs_in_sql(const std::vector<DatabaseEngine>& databases) {
  return in_sql<TestedAuditLog, SqlTestedAuditLog>(databases);
}

}  // namespace sluice::test
