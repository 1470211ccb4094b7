#include "server/job_kinds.h"

#include "links/enrichment_job.h"

namespace sluice::server {

jobs::JobsConfig jobs_with_own_kinds() {
  jobs::JobsConfig config;
  config.kinds[links::enrich_link] = {.max_attempts = 2,
                                      .backoff = {.fixed = {5min}},
                                      .timeout = 2min,
                                      .lock_ttl = 10min,
                                      .throttle = {.concurrency = 2}};
  return config;
}

}  // namespace sluice::server
