// How jobs are treated: [jobs].
#pragma once

#include <map>
#include <string>

#include "jobs/job_kind.h"
#include "jobs/recurring.h"
#include "runtime/config_fwd.h"

namespace sluice::jobs {

// How one process runs jobs.
struct WorkersConfig {
  size_t batch = 10;       // claimed at once
  size_t concurrency = 0;  // running at once; 0: as many as a batch has
  Duration poll_min = 20ms;
  Duration poll_max = 1s;
  Duration drain = 10s;

  size_t places() const { return concurrency == 0 ? batch : concurrency; }

  static void describe(config::Section<WorkersConfig>& section);
  void validate(config::Problems& problems) const;
};

struct JobsConfig {
  std::map<std::string, JobKind> kinds;
  RecurringJobs recurring;
  WorkersConfig workers;
  Duration retention = std::chrono::days(7);  // of finished jobs

  static void describe(config::Section<JobsConfig>& section);
  void validate(config::Problems& problems) const;
};

void describe(config::Section<Throttle>& section);
void describe(config::Section<JobKind>& section);

}  // namespace sluice::jobs
