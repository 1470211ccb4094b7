// Jobs wired to their engines: the queue, its upkeep, and the workers of this process.
#pragma once

#include <memory>
#include <optional>

#include "adapters/sql/jobs/sql_job_store.h"
#include "adapters/sql/messaging/inbox.h"
#include "jobs/job_upkeep.h"
#include "jobs/jobs.h"
#include "jobs/workers.h"
#include "messaging/consumer.h"
#include "server/engines.h"

namespace sluice::server {

// Made at start; its loops live on `executor`. References must outlive it.
class JobParts {
 public:
  // `errors` hears of jobs that fail, where there is one.
  JobParts(const jobs::JobsConfig& config, const sql::InboxConfig& inbox, sql::Database& database, Clock& clock,
           Random& random, ErrorSink* errors, Executor executor);

  jobs::Jobs& jobs() { return jobs_; }
  const jobs::JobKinds& kinds() const { return kinds_; }

  // Which kinds this process works on, and how: before `start`.
  jobs::JobHandlers& handlers() { return handlers_; }

  // New jobs of other processes are seen at once from now on, where their database has news of them. Before `start`.
  void hear_others(Engines& engines);

  // Also adds the jobs that other services ask for by messages, where there is a log.
  void start(TaskScope& scope, messaging::MessageLog* log, const messaging::ConsumerConfig& consumers);
  // Before the scope is closed.
  Task<> stop();

 private:
  jobs::FailureReports* reports_to(ErrorSink* errors);
  void tell_others();

  const jobs::JobsConfig& config_;
  Clock& clock_;
  Random& random_;
  Executor executor_;
  const std::string worker_;  // names this process
  jobs::JobKinds kinds_;
  sql::SqlJobStore store_;
  messaging::Bell bell_;
  std::optional<jobs::FailureReports> failures_;  // where there is an error sink
  jobs::Jobs jobs_;
  jobs::JobUpkeep upkeep_;
  sql::InboxRetention inbox_;
  jobs::Recurring recurring_;
  jobs::JobHandlers handlers_;
  std::unique_ptr<jobs::Workers> workers_;        // where there are handlers
  std::unique_ptr<messaging::Consumer> enqueue_;  // where there is a log
  std::unique_ptr<postgres::PostgresNews> news_;  // where there is a direct connection
};

}  // namespace sluice::server
