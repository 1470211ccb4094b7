// The settings that the workers and their test agree on.
#pragma once

#include "jobs/job_kind.h"

namespace sluice::test {

inline constexpr int32_t jobs_of_key_at_once = 2;

inline jobs::JobKinds kinds_in_chaos(const std::string& kind) {
  return jobs::JobKinds(
      {{kind,
        {.max_attempts = 100, .lock_ttl = 2s, .throttle = {.concurrency = jobs_of_key_at_once, .per_second = 0}}}});
}

}  // namespace sluice::test
