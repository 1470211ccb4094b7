// Circuit breakers in SQL: one row per key.
#pragma once

#include "adapters/sql/driver/database.h"
#include "coordination/shared_breaker.h"

namespace sluice::sql {

class SqlSharedBreaker : public coordination::SharedBreaker {
 public:
  explicit SqlSharedBreaker(Database& database, BreakerConfig config = {});

  Task<Result<coordination::BreakerPermit, Duration>> ask(std::string key, Duration trial_ttl) override;
  Task<> record(std::string key, coordination::BreakerPermit permit, bool success) override;
  Task<> forget(std::string key, coordination::BreakerPermit permit) override;
  Task<coordination::BreakerState> state(std::string key) override;

 private:
  Database& database_;
  BreakerConfig config_;
};

}  // namespace sluice::sql
