// Candidates for blocking in SQL.
#pragma once

#include "adapters/sql/driver/database.h"
#include "links/blocked_domains.h"

namespace sluice::sql {

// Safe to share between threads. The database must outlive it.
class SqlBlockedDomains : public links::BlockedDomains {
 public:
  explicit SqlBlockedDomains(Database& database) : database_(database) {}

  Task<int64_t> blame(std::string domain, links::FailureReason reason) override;
  Task<std::vector<links::BlockedDomain>> candidates(size_t most) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
