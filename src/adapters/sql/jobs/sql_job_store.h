// Jobs in SQL.
#pragma once

#include <mutex>

#include "adapters/sql/jobs/claim_cursors.h"
#include "adapters/sql/jobs/job_claims.h"
#include "adapters/sql/jobs/job_endings.h"
#include "adapters/sql/jobs/job_slots.h"
#include "adapters/sql/jobs/job_upkeep.h"
#include "adapters/sql/jobs/stats_cache.h"
#include "jobs/job_kind.h"
#include "jobs/job_store.h"

namespace sluice::sql {

// Safe to share between threads if `random` is. All it is given must outlive it.
class SqlJobStore : public jobs::JobStore {
 public:
  SqlJobStore(Database& database, const jobs::JobKinds& kinds, const Clock& clock, Random& random);

  Task<std::vector<jobs::Enqueued>> enqueue(std::vector<jobs::NewJob> jobs) override;
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<jobs::NewJob> jobs) override;
  Task<std::optional<std::vector<jobs::Enqueued>>> enqueue_for(jobs::EnqueueRequest request,
                                                               std::vector<jobs::NewJob> jobs) override;
  Task<std::vector<jobs::ClaimedJob>> claim(jobs::ClaimRequest request) override;
  Task<std::vector<jobs::Verdict>> complete(std::vector<jobs::Completion> completions) override;
  Task<std::vector<jobs::FailVerdict>> fail(std::vector<jobs::Failure> failures) override;
  Task<std::vector<jobs::Verdict>> renew(std::vector<jobs::LockedJob> jobs) override;
  Task<jobs::Tended> tend() override;
  Task<std::optional<jobs::Job>> find(jobs::JobId id) override;
  Task<jobs::JobPage> list(jobs::JobFilter filter, std::optional<jobs::JobId> from, size_t most) override;
  Task<jobs::JobStats> stats() override;
  Task<std::optional<bool>> retry(jobs::JobId id) override;
  Task<std::optional<bool>> cancel(jobs::JobId id) override;
  Task<size_t> purge(Duration age, size_t most) override;
  Task<size_t> forget_requests(Duration age, size_t most) override;
  Task<size_t> forget_idle_keys(size_t most) override;

 private:
  Task<std::vector<TakenJob>> claim_from_cursors(jobs::ClaimRequest request);
  struct Swept {
    std::vector<TakenJob> taken{};
    bool whole = true;  // from the very beginning
  };
  Task<Swept> sweep(jobs::ClaimRequest request);
  Task<std::vector<jobs::FailVerdict>> end_all(std::vector<jobs::Ending> endings);
  Task<> space_starts(std::vector<TakenJob> taken);
  struct Kept {
    size_t count = 0;            // that were found
    std::optional<Time> next{};  // when there will be more
    Time now{};                  // by the clock of the database
  };
  // Does a part of the due upkeep.
  Task<Kept> do_upkeep(UpkeepCursor::Asker asker);
  Task<UpkeepPart> end_lost(Time after, Time now);
  std::vector<jobs::JobId> take_died();
  std::vector<KindToClaim> kinds_to_claim(const jobs::ClaimRequest& request) const;

  Database& database_;
  const jobs::JobKinds& kinds_;
  const Clock& clock_;
  Random& random_;
  const EndingRules rules_;
  ClaimCursors cursors_;
  UpkeepCursor upkeep_;
  const bool resumes_;  // in SQLite claimed rows leave the index at once
  std::mutex died_mutex_;
  std::vector<jobs::JobId> died_;  // and `tend` has not told of them yet
  std::mutex purge_mutex_;         // guards the places that follow
  jobs::JobId purged_to_;
  KeyName last_key_;  // that was looked at for being idle
  StatsCache stats_;
};

}  // namespace sluice::sql
