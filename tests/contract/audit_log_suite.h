// The fixture of audit_log_contract.cpp, for the engines that run it.
#pragma once

#include "adapters/sql/accounts/sql_audit_log.h"
#include "tests/contract/database_fixture.h"

namespace sluice::test {

class AuditLogContract : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseFixture::SetUp();
    log_.emplace(database());
  }

  // Records an entry of this action.
  void record(const std::string& action) { run(log_->record({.actor = "ops", .action = action})); }
  bool holds(const std::string& action) {
    const auto is_it = [&](const accounts::RecordedAuditEntry& one) { return one.entry.action == action; };
    return std::ranges::any_of(run(log_->list(1000)), is_it);
  }

  std::optional<sql::SqlAuditLog> log_;
};

}  // namespace sluice::test
