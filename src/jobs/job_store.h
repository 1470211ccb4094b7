// Stores jobs until they are done.
//
// A job is claimed under a lock with an end and a token; only the owner of the current token completes, fails or renews
// it. At most as many jobs of one throttle key run at once as its kind allows, over all workers, and a full key does
// not delay others. Finished jobs leave the table that claims read; they and their keys are kept for a retention.
//
// Time is the database's. Every implementation passes tests/contract/job_store_contract.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "messaging/message.h"
#include "runtime/task.h"

namespace sluice::jobs {

struct ClaimRequest {
  std::string worker;
  std::vector<std::string> kinds;
  size_t limit = 10;
};

struct JobFilter {
  std::optional<std::string> kind{};
  std::optional<JobStatus> status{};
};

// A page for a kind or status searches only a part of all jobs: it may hold few jobs, or none, and still have a next.
struct JobPage {
  std::vector<Job> jobs;        // newest first, without history
  std::optional<JobId> next{};  // where the next page begins, if there is one
};

// A second, over the last minute.
struct JobRates {
  double added = 0;
  double succeeded = 0;
  double failed = 0;  // tries that did not succeed and were not the last
  double dead = 0;
  double canceled = 0;

  double finished() const { return succeeded + dead + canceled; }
};

struct KindStats {
  std::string kind;
  std::map<JobStatus, int64_t> counts;
  std::optional<Time> oldest_waiting{};  // run_after of the due job that waits longest
  JobRates rates{};
};

struct FailingKey {
  std::string kind;
  std::string throttle_key;
  int64_t failures = 0;  // over the last hour
};

struct JobStats {
  std::vector<KindStats> kinds;
  std::vector<FailingKey> top_failing;
};

// A request that its client may repeat.
struct EnqueueRequest {
  Id<struct EnqueueRequestTag> id;       // the same for every repetition
  Id<struct EnqueueContentTag> content;  // hash of its content
};

// The result of upkeep.
struct Tended {
  std::optional<Time> next{};  // when the next job becomes due, where one is known
  Time now{};                  // by the engine's clock, which alone decides about locks
  std::vector<JobId> died{};   // since it was asked last: their lock ran out with their last try
};

class JobStore {
 public:
  virtual ~JobStore() = default;

  // All of them or none. Answers stand in the order of the jobs.
  virtual Task<std::vector<Enqueued>> enqueue(std::vector<NewJob> jobs) = 0;
  // The same for jobs of a message, once: the jobs and the record that the message was seen are one transaction. False:
  // the message was seen before, and nothing is added, regardless of the state of its jobs.
  virtual Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> jobs) = 0;

  // The same for a request that may be repeated: a repetition gets the first answer, and nothing is added, regardless
  // of the state of its jobs. Nothing if its id belongs to a request with other content.
  virtual Task<std::optional<std::vector<Enqueued>>> enqueue_for(EnqueueRequest request, std::vector<NewJob> jobs) = 0;

  // Takes up to `limit` jobs that may run now, by priority, run_after and id. Each gets a new token and a further
  // attempt.
  virtual Task<std::vector<ClaimedJob>> claim(ClaimRequest request) = 0;

  // Many at once; each is accepted or refused alone. Repeating an accepted completion is refused as not running.
  virtual Task<std::vector<Verdict>> complete(std::vector<Completion> completions) = 0;
  virtual Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures) = 0;
  // Extends locks to the kind's ttl from now.
  virtual Task<std::vector<Verdict>> renew(std::vector<LockedJob> jobs) = 0;

  // Makes jobs claimable that have become due or whose lock expired; the latter wait as failed, behind others of their
  // priority, or die with their last try. Called about every second by every process; cheap when there is nothing to
  // do. A claim that finds nothing does the same; one that finds something does not wait for it.
  virtual Task<Tended> tend() = 0;

  virtual Task<std::optional<Job>> find(JobId id) = 0;
  virtual Task<JobPage> list(JobFilter filter, std::optional<JobId> from, size_t most) = 0;
  // For people, not for decisions: on a large database the answer may be some seconds old.
  virtual Task<JobStats> stats() = 0;

  // dead -> queued, with all its attempts again. False if it is not dead, or another job has its unique key; nothing if
  // it does not exist.
  virtual Task<std::optional<bool>> retry(JobId id) = 0;
  // queued or failed -> canceled. False if it is in another state; nothing if it does not exist.
  virtual Task<std::optional<bool>> cancel(JobId id) = 0;

  // Removes finished jobs older than `age`, at most `most` of them; how many. Their unique keys stay.
  virtual Task<size_t> purge(Duration age, size_t most) = 0;
  // Forgets requests that were answered longer than `age` ago, at most `most` of them; how many.
  virtual Task<size_t> forget_requests(Duration age, size_t most) = 0;
  // Looks at the next `most` throttle keys, after the last at the first again, and forgets those that no job has; how
  // many were forgotten.
  virtual Task<size_t> forget_idle_keys(size_t most) = 0;
};

}  // namespace sluice::jobs
