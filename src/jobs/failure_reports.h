// Tells the error sink of jobs that failed, and of dead ones their whole history.
//
// The store is read for each job in the background, one after another. If failures arrive faster, and when the process
// ends, reports are dropped: the store still has the details (`sluice jobs show`).
#pragma once

#include <deque>
#include <mutex>

#include "jobs/job_store.h"
#include "messaging/bell.h"
#include "runtime/error_sink.h"
#include "runtime/retry.h"
#include "runtime/task_scope.h"

namespace sluice::jobs {

// `add` is safe from any thread, everything else belongs to the scope's executor. All it is given must outlive it.
class FailureReports {
 public:
  static constexpr size_t max_waiting = 1'000;

  FailureReports(JobStore& store, ErrorSink& sink, Clock& clock, Random& random)
      : store_(store), sink_(sink), clock_(clock), random_(random) {}

  void start(TaskScope& scope, const Executor& executor);

  // The store took it that this job has failed. Never waits.
  void add(JobId id, std::string error, bool dead);

 private:
  struct Failed {
    JobId id;
    std::string error;
    bool dead = false;
    Time at{};
  };

  Task<> round(messaging::Bell::Listener& news);
  std::optional<Failed> first();
  static ErrorReport report_of(const Failed& failed, const Job& job);

  JobStore& store_;
  ErrorSink& sink_;
  Clock& clock_;
  Random& random_;
  messaging::Bell bell_;
  std::mutex mutex_;
  std::deque<Failed> waiting_;
};

}  // namespace sluice::jobs
