// Where claims begin to look.
//
// Claimed rows stay at the head of PostgreSQL's index as long as any transaction may still see them: with one held open
// for minutes every claim would step over all rows claimed meanwhile. So a claim begins where the last one ended, and
// goes back to the beginning about once a second, as RewindPace allows, for rows added or freed behind it. Thread-safe.
#pragma once

#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "adapters/sql/driver/rewind_pace.h"
#include "jobs/job.h"
#include "runtime/clock.h"

namespace sluice::sql {

// A job's place in the order of claims.
struct ClaimPosition {
  int64_t priority = std::numeric_limits<int64_t>::min();
  Time run_after{};
  jobs::JobId id{};

  friend auto operator<=>(const ClaimPosition&, const ClaimPosition&) = default;
};

class ClaimCursors {
 public:
  explicit ClaimCursors(const Clock& clock) : clock_(clock) {}

  struct Start {
    ClaimPosition after{};
    bool from_the_beginning = true;
    Instant at{};
  };
  Start begin(const std::string& kind);

  // Whether the next claim would go back.
  bool may_go_back(const std::string& kind);

  // The claim that began so got jobs up to `last`, if any, and `enough` of them.
  void ended(const std::string& kind, const Start& start, std::optional<ClaimPosition> last, bool enough);

  // Something was added that may stand behind.
  void go_back_soon();

 private:
  struct Cursor {
    ClaimPosition at{};
    RewindPace pace{};
    bool soon = false;     // something may stand behind
    bool starved = false;  // there was too little ahead

    bool may_go_back(Instant now) const;
  };

  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Cursor> cursors_;
};

}  // namespace sluice::sql
