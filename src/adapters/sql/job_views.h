// Jobs as people look at them: live and finished ones together.
#pragma once

#include "adapters/sql/database.h"
#include "jobs/job_store.h"

namespace sluice::sql {

Task<std::optional<jobs::Job>> find_job(Database& database, jobs::JobId id);
Task<jobs::JobPage> list_jobs(Database& database, jobs::JobFilter filter, std::optional<jobs::JobId> from, size_t most);
Task<jobs::JobStats> job_stats(Database& database, Time now);

}  // namespace sluice::sql
