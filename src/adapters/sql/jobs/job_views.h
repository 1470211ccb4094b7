// Jobs as people look at them: live and finished ones together.
#pragma once

#include <map>
#include <mutex>
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

// Caches statistics for callers soon after, or during a count: counting never takes more than a twentieth of the time.
// Thread-safe.
class StatsCache {
 public:
  // The cached statistics, if they are recent or being recounted; nothing: the caller must count and report the result.
  std::optional<jobs::JobStats> begin(Instant now);
  void ended(const jobs::JobStats& stats, Instant start, Instant now);
  void failed();

 private:
  std::mutex mutex_;
  std::optional<jobs::JobStats> stats_;
  Instant good_until_{};
  bool counting_ = false;
};

}  // namespace sluice::sql
