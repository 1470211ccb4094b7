// Handlers, which do the work of a kind of job, and their registry.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/job.h"
#include "runtime/deadline.h"

namespace sluice::jobs {

// One try of a job, as its handler gets it.
struct JobRun {
  JobId id;
  std::string kind;
  std::string payload;
  int32_t attempt = 1;
  int32_t max_attempts = 1;
  std::optional<std::string> throttle_key{};
  Deadline deadline{};
  // Asked to stop when the time is up, the lock was lost or the process ends. The coroutine is cancelled then as well;
  // the token is for work on other threads.
  std::stop_token stop{};
};

// The outcome of a job, as its handler reports it.
struct JobOutcome {
  enum class Kind { done, failed, dead, released };

  Kind kind = Kind::done;
  std::optional<std::string> result{};  // JSON
  std::string error{};                  // for people
  std::optional<Handover> onward{};     // of a released job

  static JobOutcome done(std::optional<std::string> result = std::nullopt) { return {.result = std::move(result)}; }
  // Try again, while it has tries left.
  static JobOutcome failed(std::string error) { return {.kind = Kind::failed, .error = std::move(error)}; }
  // Trying again is of no use.
  static JobOutcome dead(std::string error) { return {.kind = Kind::dead, .error = std::move(error)}; }
  // The try was interrupted through no fault of the job: another worker may take it at once, and the try does not
  // count.
  static JobOutcome released(std::string why) { return {.kind = Kind::released, .error = std::move(why)}; }
  // The rest is to be done under another throttle key, by the worker that claims it there; this try does not count
  // either.
  static JobOutcome handed_on(Handover onward, std::string why) {
    return {.kind = Kind::released, .error = std::move(why), .onward = std::move(onward)};
  }
};

// Runs on the workers' executor, concurrently with others. An exception is a failure, except EngineUnavailable: then
// the job is handed back after a moment, and the try does not count. The same job may have run before, even to its end:
// the handler must make its effects idempotent.
using JobHandler = std::function<Task<JobOutcome>(JobRun)>;

// Filled at start, then unchanged.
class JobHandlers {
 public:
  void add(std::string kind, JobHandler handler) {
    const bool added = handlers_.try_emplace(std::move(kind), std::move(handler)).second;
    check(added, "a kind of job has two handlers");
  }
  bool empty() const { return handlers_.empty(); }
  const JobHandler& of(const std::string& kind) const { return handlers_.at(kind); }
  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const auto& [kind, handler] : handlers_) kinds.push_back(kind);
    return kinds;
  }

 private:
  std::map<std::string, JobHandler> handlers_;
};

}  // namespace sluice::jobs
