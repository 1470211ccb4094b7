// Imports in SQL, in the schema that has the jobs.
#pragma once

#include <mutex>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/jobs/job_endings.h"
#include "links/import_store.h"
#include "runtime/clock.h"

namespace sluice::sql {

// Safe to share between threads if `random` is. All it is given must outlive it.
class SqlImportStore : public links::ImportStore {
 public:
  // `end_vain_waits` checks this many waits at a time.
  SqlImportStore(Database& database, const jobs::JobKinds& kinds, const Clock& clock, Random& random,
                 size_t looked_at = 10'000)
      : database_(database),
        kinds_(kinds),
        clock_(clock),
        random_(random),
        rules_{&kinds, &random},
        looked_at_(looked_at) {}

  Task<std::optional<links::Import>> begin(links::ImportId id, links::OwnerId owner) override;
  Task<bool> add(links::ImportId id, std::vector<links::Bookmark> bookmarks) override;
  Task<std::optional<links::Import>> end_reading(links::ImportId id, links::WholeFile file) override;
  Task<std::optional<links::Import>> reject(links::ImportId id, std::string error) override;
  Task<std::optional<links::Import>> find(links::ImportId id, links::OwnerId owner) override;
  Task<std::vector<links::Import>> find_all(std::vector<links::ImportId> ids) override;
  Task<Result<links::Import, links::CancelRefused>> cancel(links::ImportId id, links::OwnerId owner) override;
  Task<size_t> tie_up(links::ImportId id, size_t most) override;
  Task<std::vector<links::ImportId>> with_loose_ends(links::ImportId after, size_t most) override;
  Task<std::vector<links::Import>> fail_broken_off(Duration reading_limit) override;
  Task<std::vector<links::Import>> end_vain_waits() override;
  Task<size_t> forget_ended(Duration keep, size_t most) override;
  Task<size_t> forget_unused_links(Duration keep, size_t most) override;

 private:
  // Links without a job among the next part of the waits.
  Task<std::vector<links::LinkId>> look_for_gone();

  Database& database_;
  const jobs::JobKinds& kinds_;
  const Clock& clock_;
  Random& random_;
  const EndingRules rules_;
  const size_t looked_at_;
  std::mutex mutex_;
  links::LinkId looked_up_to_;
};

}  // namespace sluice::sql
