// The fixture of audit_log_contract.cpp, for the engines that run it.
#pragma once

#include <algorithm>

#include "accounts/audit_log.h"
#include "tests/contract/port_fixture.h"

namespace sluice::test {

// A log, and what only its engine can do.
class TestedAuditLog {
 public:
  virtual ~TestedAuditLog() = default;
  virtual accounts::AuditLog& log() = 0;
  // As if the entries of this action had been recorded at that time.
  virtual Task<> set_time(std::string action, Time at) = 0;
  // As if AuditLog::keep_most others had been recorded since the last entry but one.
  virtual Task<> skip_many() = 0;
};

class AuditLogContract : public PortFixture<TestedAuditLog> {
 protected:
  accounts::AuditLog& log() { return port().log(); }
  // Records an entry of this action.
  void record(const std::string& action) { run(log().record({.actor = "ops", .action = action})); }
  bool holds(const std::string& action) {
    const auto is_it = [&](const accounts::RecordedAuditEntry& one) { return one.entry.action == action; };
    return std::ranges::any_of(run(log().list(1000)), is_it);
  }
};

}  // namespace sluice::test
