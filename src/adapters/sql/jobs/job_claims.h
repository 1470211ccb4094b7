// Claims of jobs that may run.
#pragma once

#include <string>
#include <vector>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/jobs/claim_cursors.h"
#include "jobs/job.h"

namespace sluice::sql {

struct KindToClaim {
  std::string kind;
  Duration lock_ttl{};
  ClaimPosition after{};
};

struct TakenJob {
  jobs::ClaimedJob job;
  ClaimPosition position;
};

// Up to `limit` jobs in the order of claims over all the kinds. Never waits: rows locked by others are skipped.
Task<std::vector<TakenJob>> claim_ready(Database& database, std::vector<KindToClaim> kinds, std::string worker,
                                        size_t limit);

}  // namespace sluice::sql
