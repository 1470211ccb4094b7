// What does the work of a kind of job, and where such handlers are registered.
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
  // the token is for what it started on other threads.
  std::stop_token stop{};
};

// What a handler says of its job.
struct JobOutcome {
  enum class Kind { done, failed, dead, released };

  Kind kind = Kind::done;
  std::optional<std::string> result{};  // JSON
  std::string error{};                  // for people
  std::optional<Handover> onward{};     // of what is released

  static JobOutcome done(std::optional<std::string> result = std::nullopt) { return {.result = std::move(result)}; }
  // To be tried again, as long as it has tries.
  static JobOutcome failed(std::string error) { return {.kind = Kind::failed, .error = std::move(error)}; }
  // Trying again is of no use.
  static JobOutcome dead(std::string error) { return {.kind = Kind::dead, .error = std::move(error)}; }
  // It could not be tried to its end, and not through its own fault: somebody else may take it at once, and this was no
  // try.
  static JobOutcome released(std::string why) { return {.kind = Kind::released, .error = std::move(why)}; }
  // The rest is to be done under another throttle key, by whoever claims it there; this was no try either.
  static JobOutcome handed_on(Handover onward, std::string why) {
    return {.kind = Kind::released, .error = std::move(why), .onward = std::move(onward)};
  }
};

// Runs on the workers' executor, at the same time as others. What it throws is a failure, but for
// EngineUnavailable: the job is handed back after a moment, and this was no try. The same job may have run
// before, also to its end: an effect that must not happen twice is made idempotent by its handler.
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
