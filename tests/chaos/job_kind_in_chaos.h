// The settings that the workers and their test agree on.
#pragma once

#include "jobs/job_kind.h"
#include "tests/support/run_length.h"

namespace sluice::test {

inline constexpr int32_t jobs_of_key_at_once = 2;

// A worker that stands still for longer loses its locks, and its jobs run elsewhere beside it, as they should. The full
// run is for an idle machine; the short one outlasts the pauses of a busy one.
inline jobs::JobKinds kinds_in_chaos(const std::string& kind) {
  return jobs::JobKinds({{kind,
                          {.max_attempts = 100,
                           .lock_ttl = in_full() ? 2s : 10s,
                           .throttle = {.concurrency = jobs_of_key_at_once, .per_second = 0}}}});
}

}  // namespace sluice::test
