// Jobs that are added by the clock: [jobs.recurring.NAME].
//
// Every instance adds them, and the database takes the first: a firing is a message identified by its name and time,
// regardless of the state of its job. It runs when the database's clock says so, even if an instance's clock is ahead.
// Firings while no instance runs are skipped.
#pragma once

#include <map>
#include <string>

#include "jobs/cron.h"
#include "jobs/jobs.h"
#include "runtime/config_fwd.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::jobs {

struct RecurringJob {
  std::string schedule = "0 3 * * *";
  std::string time_zone = "UTC";
  std::string kind{};  // empty: its name
  std::string payload = "{}";

  static void describe(config::Section<RecurringJob>& section);
};
using RecurringJobs = std::map<std::string, RecurringJob>;

// Belongs to the executor of the scope it is started in. All it is given must outlive it.
class Recurring {
 public:
  Recurring(const RecurringJobs& recurring, Jobs& jobs, Clock& clock, Random& random);

  void start(TaskScope& scope);

 private:
  struct Entry {
    std::string name;
    RecurringJob job;
    Cron cron;
    TimeZone zone;
    Time done_until;  // firings up to this time were added or skipped
  };

  Task<> round(Entry& entry);

  std::vector<Entry> entries_;
  Jobs& jobs_;
  Clock& clock_;
  Random& random_;
};

}  // namespace sluice::jobs
