// Jobs as people look at them: live and finished ones together.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/sql/database.h"
#include "jobs/job_store.h"

namespace sluice::sql {

Task<std::optional<jobs::Job>> find_job(Database& database, jobs::JobId id);
Task<jobs::JobPage> list_jobs(Database& database, jobs::JobFilter filter, std::optional<jobs::JobId> from, size_t most);
Task<jobs::JobStats> job_stats(Database& database, Time now);

// Collects what several statements tell of each kind. Any name is a kind, so there may be many: finding one takes the
// logarithm of their number.
class StatsByKind {
 public:
  jobs::KindStats& of(const std::string& kind);
  // By name.
  std::vector<jobs::KindStats> take() &&;

 private:
  std::map<std::string, jobs::KindStats> kinds_;
};

// Keeps statistics for those who ask soon after, or while others have them counted: counting never takes more than a
// twentieth of the time. Safe to share between threads.
class StatsCache {
 public:
  // What there is, where it is young enough or being counted anew; nothing: the caller is to count, and to tell.
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
