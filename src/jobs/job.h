// A job: work that must not be lost, waiting in the database until a worker does it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/id.h"
#include "base/time.h"
#include "messaging/wanted_job.h"

namespace sluice::jobs {

struct JobTag;
using JobId = Id<JobTag>;

// queued|failed -> running -> succeeded | failed (waits for its next try) | dead; queued|failed -> canceled;
// dead -> queued by an operator. The database refuses every other change.
enum class JobStatus { queued, running, succeeded, failed, dead, canceled };

constexpr auto enum_names(JobStatus) {
  return std::to_array<EnumName<JobStatus>>({{JobStatus::queued, "queued"},
                                             {JobStatus::running, "running"},
                                             {JobStatus::succeeded, "succeeded"},
                                             {JobStatus::failed, "failed"},
                                             {JobStatus::dead, "dead"},
                                             {JobStatus::canceled, "canceled"}});
}

// A job is the same whether it is added directly or asked for with a message.
using NewJob = messaging::WantedJob;

struct Enqueued {
  JobId id;
  bool duplicate = false;  // it was there already; `id` is the one that was
};

// Distinguishes one claim of a job from the next; changes need the current one.
using LockToken = int64_t;

struct LockedJob {
  JobId id;
  LockToken token = 0;

  friend auto operator<=>(const LockedJob&, const LockedJob&) = default;
};

struct ClaimedJob {
  JobId id;
  std::string kind;
  std::string payload;
  int32_t attempt = 1;  // counts from 1
  int32_t max_attempts = 1;
  LockToken token = 0;
  Time lock_expires_at{};
  std::optional<std::string> throttle_key{};
};

struct Completion {
  LockedJob job;
  std::optional<std::string> result{};  // JSON
  // As the claim gave them, where they are known: the job then ends in fewer steps.
  std::string kind{};
  std::optional<std::string> throttle_key{};
};

// The rest of a job's work, to be done under another throttle key than the job was added with.
struct Handover {
  std::string payload;  // JSON
  std::string throttle_key;
};

struct Failure {
  LockedJob job;
  std::string error;
  bool permanent = false;            // no further try can help: dead at once
  bool released = false;             // handed back before its end: this was no try, and the next may begin at once
  std::optional<Handover> onward{};  // of a released job: how it continues
};

enum class Verdict { accepted, stale_lock, not_running, unknown };

constexpr auto enum_names(Verdict) {
  return std::to_array<EnumName<Verdict>>({{Verdict::accepted, "accepted"},
                                           {Verdict::stale_lock, "stale-lock"},
                                           {Verdict::not_running, "not-running"},
                                           {Verdict::unknown, "unknown"}});
}

// The result of a failed job.
struct FailVerdict {
  Verdict verdict = Verdict::unknown;
  bool dead = false;
};

// One try: time, worker and outcome.
struct Attempt {
  int32_t number = 1;
  Time started_at{};
  std::optional<Time> ended_at{};
  std::string worker{};
  std::string outcome{};  // succeeded, failed, dead, lost (its lock ran out); empty while it runs
  std::optional<std::string> error{};
};

struct Job {
  JobId id;
  std::string kind;
  std::optional<std::string> unique_key{};
  std::string payload;
  int32_t priority = 0;
  JobStatus status = JobStatus::queued;
  int32_t attempts = 0;
  int32_t max_attempts = 1;
  Time run_after{};
  std::optional<Time> locked_at{};
  std::optional<std::string> locked_by{};
  LockToken lock_token = 0;  // 0 where it was never claimed
  std::optional<std::string> throttle_key{};
  std::optional<std::string> last_error{};
  std::optional<std::string> result{};
  Time created_at{};
  Time updated_at{};
  std::optional<Time> finished_at{};
  std::vector<Attempt> history{};  // of failed, lost and finished tries, oldest first
};

}  // namespace sluice::jobs
