// Links in SQL.
#pragma once

#include "adapters/sql/driver/database.h"
#include "links/link_store.h"

namespace sluice::sql {

// Safe to share between threads. The database must outlive it.
class SqlLinkStore : public links::LinkStore {
 public:
  explicit SqlLinkStore(Database& database) : database_(database) {}

  Task<std::vector<links::Import>> enriched(links::LinkId link, links::PageFacts facts) override;
  Task<std::vector<links::Import>> failed(links::LinkId link, links::FailureReason reason) override;
  Task<links::LinkPage> list(links::OwnerId owner, std::optional<std::string> folder,
                             std::optional<links::InstanceId> from, size_t most) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
