// Slots in SQL: one row per slot number that was ever taken.
#pragma once

#include "adapters/sql/driver/database.h"
#include "coordination/slots.h"

namespace sluice::sql {

class SqlSlots : public coordination::Slots {
 public:
  explicit SqlSlots(Database& database) : database_(database) {}

  Task<std::optional<coordination::Slot>> take(std::string key, int64_t n, std::string owner, Duration ttl) override;
  Task<bool> renew(coordination::Slot slot, Duration ttl) override;
  Task<> give_back(coordination::Slot slot) override;
  Task<int64_t> in_use(std::string key) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
