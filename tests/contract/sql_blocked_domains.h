// Domains that refuse visits in a database, for the contract suite.
#pragma once

#include "adapters/sql/links/sql_blocked_domains.h"
#include "tests/contract/blocked_domains_suite.h"
#include "tests/contract/sql_ports.h"

namespace sluice::test {

class SqlTestedBlockedDomains : public TestedBlockedDomains {
 public:
  explicit SqlTestedBlockedDomains(sql::Database& database) : database_(database), domains_(database) {}

  links::BlockedDomains& domains() override { return domains_; }
  Task<> set_last(std::string domain, Time at) override {
    sql::Params params(domain, at);
    co_await database_.write("UPDATE blocked_domains SET last_at = $2 WHERE domain = $1", std::move(params));
  }

 private:
  sql::Database& database_;
  sql::SqlBlockedDomains domains_;
};

inline std::vector<PortEngine<TestedBlockedDomains>> blocked_domains_in_sql(
    const std::vector<DatabaseEngine>& databases) {
  return in_sql<TestedBlockedDomains, SqlTestedBlockedDomains>(databases);
}

}  // namespace sluice::test
