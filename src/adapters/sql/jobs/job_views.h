// Jobs as people look at them: live and finished ones together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "jobs/job_store.h"

namespace sluice::sql {

Task<std::optional<jobs::Job>> find_job(Database& database, jobs::JobId id);
Task<jobs::JobPage> list_jobs(Database& database, jobs::JobFilter filter, std::optional<jobs::JobId> from, size_t most);
Task<jobs::JobStats> job_stats(Database& database, Time now);

// Merges the results of several statements by kind. Any name is a kind, so there may be many: finding one takes
// logarithmic time.
class StatsByKind {
 public:
  jobs::KindStats& of(const std::string& kind);
  // By name.
  std::vector<jobs::KindStats> take() &&;

 private:
  std::map<std::string, jobs::KindStats> kinds_;
};

}  // namespace sluice::sql
