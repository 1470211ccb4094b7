// Settings of a kind of job for all workers: [jobs.kinds.NAME].
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/retry.h"

namespace sluice::jobs {

// How long a failed job waits for its next try.
struct RetryDelays {
  std::vector<Duration> fixed{5min};  // the last one repeats
  std::optional<Backoff> growing{};   // instead of `fixed`

  // After try number `attempt` (from 1) failed.
  Duration after(int32_t attempt, Random& random) const;
};

struct Throttle {
  int32_t concurrency = 2;  // jobs of one throttle key that run at once, over all workers
  double per_second = 0;    // starts a second of one key; 0 is no limit

  // Between two starts of one key; 0 where starts are not limited.
  Duration gap() const;
};

// The last start of a key is remembered for so long at least.
constexpr Duration longest_gap = 24h;

struct JobKind {
  int32_t max_attempts = 2;
  RetryDelays backoff{};
  Duration timeout = 5min;    // of one try, in our own workers
  Duration lock_ttl = 10min;  // a lock not renewed for this time may be taken by another worker
  Throttle throttle{};
};

// The kinds that have settings of their own; every other name has the defaults. Unchanged after start.
class JobKinds {
 public:
  explicit JobKinds(std::map<std::string, JobKind> kinds = {}) : kinds_(std::move(kinds)) {}
  const JobKind& of(const std::string& kind) const;

 private:
  std::map<std::string, JobKind> kinds_;
  JobKind by_default_;
};

}  // namespace sluice::jobs
