// Statistics of jobs, counted for all callers together.
//
// Counting costs more the more jobs there are, so it never takes more than a twentieth of the time: until then, and
// during a count, callers get the statistics of the last one. Where there are none yet, the first caller counts and the
// others wait for it. If that count fails, callers are refused for as long.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "coordination/crowd.h"
#include "jobs/job_store.h"
#include "runtime/clock.h"

namespace sluice::sql {

// Thread-safe.
class StatsCache {
 public:
  // One of both, or neither: then the caller counts, and tells how that ended.
  struct Turn {
    std::optional<jobs::JobStats> stats{};
    std::shared_ptr<coordination::Crowd> counting{};  // ask again when it is over
  };
  // Throws Overloaded.
  Turn begin(Instant now);
  void ended(const jobs::JobStats& stats, Instant start, Instant now);
  void failed(Instant start, Instant now);

 private:
  void pause(Instant start, Instant now);

  std::mutex mutex_;
  std::optional<jobs::JobStats> stats_;
  std::optional<Instant> pause_until_;
  std::shared_ptr<coordination::Crowd> counting_;
};

}  // namespace sluice::sql
