// Where looks for due jobs, due throttle keys and lost locks begin.
//
// Each goes through an index in the order of a time and begins where the last one ended; for rows committed late behind
// that place, one begins at the beginning about once a second, as RewindPace allows. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "adapters/sql/driver/rewind_pace.h"
#include "runtime/clock.h"

namespace sluice::sql {

// All up to these times has been dealt with.
struct UpkeepPlaces {
  Time locks{};      // that ran out
  Time scheduled{};  // jobs without a throttle key
  Time keys{};       // throttle keys to look at
};

class UpkeepCursor {
 public:
  explicit UpkeepCursor(const Clock& clock) : clock_(clock) {}

  // No caller waits for the background; a claim waits for its check, which begins at the beginning only if that is
  // cheap.
  enum class Asker { background, claim };

  struct Start {
    UpkeepPlaces after{};
    bool from_the_beginning = true;
    Instant at{};
  };
  Start begin(Asker asker);

  // The look that began so was answered. One that never is counts as expensive.
  void looked(const Start& start);
  // Its results have been handled up to `reached`.
  void ended(const Start& start, const UpkeepPlaces& reached);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  UpkeepPlaces places_;
  RewindPace pace_;
  std::optional<Instant> rewinding_since_;
};

}  // namespace sluice::sql
