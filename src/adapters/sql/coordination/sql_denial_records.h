// Denied tokens in SQL.
#pragma once

#include "adapters/sql/driver/database.h"
#include "coordination/denial_records.h"

namespace sluice::sql {

class SqlDenialRecords : public coordination::DenialRecords {
 public:
  explicit SqlDenialRecords(Database& database) : database_(database) {}

  Task<> deny(coordination::Denial denial) override;
  Task<bool> denied(std::string token) override;
  Task<coordination::DenialPage> read(coordination::DenialMark after, int64_t limit) override;
  Task<int64_t> purge(int64_t limit) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
