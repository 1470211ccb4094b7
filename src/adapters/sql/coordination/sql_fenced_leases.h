// Fenced leases in SQL: one row per key, kept for ever, so that its fence never starts again.
#pragma once

#include "adapters/sql/driver/database.h"
#include "coordination/fenced_leases.h"

namespace sluice::sql {

class SqlFencedLeases : public coordination::FencedLeases {
 public:
  explicit SqlFencedLeases(Database& database) : database_(database) {}

  Task<std::optional<coordination::Fence>> acquire(std::string key, std::string owner, Duration ttl) override;
  Task<std::vector<coordination::FencedLease>> renew(std::vector<coordination::FencedLease> leases,
                                                     Duration ttl) override;
  Task<> release(coordination::FencedLease lease) override;
  Task<std::optional<coordination::FencedLeaseHolder>> holder(std::string key) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
