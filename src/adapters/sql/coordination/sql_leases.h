// Leases in SQL, for several instances without Redis.
//
// They are in the table of the fenced ones, under separate keys; the token is the fence, which is not checked.
#pragma once

#include "adapters/sql/coordination/sql_fenced_leases.h"
#include "coordination/leases.h"

namespace sluice::sql {

class SqlLeases final : public coordination::Leases {
 public:
  explicit SqlLeases(Database& database) : database_(database), fenced_(database) {}

  Task<std::optional<coordination::LeaseToken>> acquire(std::string key, std::string owner, Duration ttl) override;
  Task<coordination::Renewal<coordination::Lease>> renew(std::vector<coordination::Lease> leases,
                                                         Duration ttl) override;
  Task<> release(coordination::Lease lease) override;
  Task<std::optional<coordination::LeaseHolder>> holder(std::string key) override;

 private:
  Task<std::optional<coordination::LeaseHolder>> end_any(std::string key) override;

  Database& database_;
  SqlFencedLeases fenced_;
};

}  // namespace sluice::sql
