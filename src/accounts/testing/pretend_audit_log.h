// The audit log in memory, whose engine can be away.
//
// For testing what must be recorded. Passes the contract suite of AuditLog as real ones do
// (tests/contract/pretend_ports_test.cpp). Serves one thread.
#pragma once

#include <algorithm>
#include <utility>

#include "accounts/audit_log.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::accounts {

class PretendAuditLog : public AuditLog {
 public:
  struct Row {
    int64_t id = 0;
    Time at;
    AuditEntry entry;
  };

  explicit PretendAuditLog(Clock& clock) : clock_(clock) {}

  Task<> record(AuditEntry entry) override {
    if (away) throw EngineUnavailable("sqlite", "disk full");
    rows.push_back({++last_id, clock_.wall(), std::move(entry)});
    const auto old = [this](const Row& row) {
      return row.id <= last_id - keep_most || row.at < clock_.wall() - keep_for;
    };
    std::erase_if(rows, old);
    co_return;
  }
  Task<std::vector<RecordedAuditEntry>> list(int64_t limit) override {
    std::vector<RecordedAuditEntry> newest;
    for (auto row = rows.rbegin(); row != rows.rend() && std::ssize(newest) < limit; ++row) {
      newest.push_back({row->at, row->entry});
    }
    co_return newest;
  }

  bool away = false;
  std::vector<Row> rows;  // the oldest first
  int64_t last_id = 0;

 private:
  Clock& clock_;
};

}  // namespace sluice::accounts
