// Records every use of an administrator's right: actor, action and time.
//
// An entry is written before the action is carried out; if it cannot be written, the action fails. Entries are kept for
// `keep_for`, at most `keep_most` of them; new entries displace the oldest.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "runtime/task.h"

namespace sluice::accounts {

// No secrets and no personal data belong here.
struct AuditEntry {
  std::string actor{};    // "ops (key 018f...)", "root on db1 (command line)", "environment"
  std::string action{};   // "rotate-key", "POST /api/v1/dead-letters/replay"
  std::string target{};   // target of the action, if the action does not name it
  std::string address{};  // of the caller; empty on the command line
  std::string request_id{};
};

struct RecordedAuditEntry {
  Time at;
  AuditEntry entry;
};

// Every implementation passes tests/contract/audit_log_contract.cpp.
class AuditLog {
 public:
  static constexpr Duration keep_for = std::chrono::days(365);
  static constexpr int64_t keep_most = 1'000'000;

  virtual ~AuditLog() = default;

  virtual Task<> record(AuditEntry entry) = 0;

  // The newest first.
  virtual Task<std::vector<RecordedAuditEntry>> list(int64_t limit) = 0;
};

}  // namespace sluice::accounts
