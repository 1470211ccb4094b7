// A JobStore in memory, for tests of what works with one.
//
// Left out on purpose, so that it passes no contract suite: throttling, kinds, due times, locks that expire, history of
// its own, lists and statistics.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/random.h"
#include "jobs/job_store.h"
#include "runtime/clock.h"
#include "runtime/errors.h"

namespace sluice::jobs {

class PretendJobStore : public JobStore {
 public:
  struct Kept {
    NewJob job;
    JobStatus status = JobStatus::queued;
    LockToken token = 0;
    int32_t attempts = 0;
    std::optional<std::string> result{};
    std::string error{};
    bool permanent = false;
    std::vector<Attempt> history{};
  };

  explicit PretendJobStore(Clock& clock) : clock_(clock) {}

  Task<std::vector<Enqueued>> enqueue(std::vector<NewJob> wanted) override {
    std::vector<Enqueued> added;
    for (NewJob& job : wanted) {
      const auto same = std::ranges::find_if(jobs, [&job](const auto& one) {
        const bool keeps_key = one.second.status != JobStatus::dead && one.second.status != JobStatus::canceled;
        return keeps_key && job.unique_key && one.second.job.unique_key == job.unique_key;
      });
      const bool duplicate = same != jobs.end();
      added.push_back({duplicate ? same->first : add(std::move(job)), duplicate});
    }
    co_return added;
  }
  Task<bool> enqueue_once(messaging::MessageId message, std::vector<NewJob> wanted) override {
    co_await answer();
    const bool first = seen.insert(message).second;
    if (first) co_await enqueue(std::move(wanted));
    co_return first;
  }
  Task<std::optional<std::vector<Enqueued>>> enqueue_for(EnqueueRequest, std::vector<NewJob>) override {
    throw std::logic_error("not pretended");
  }
  Task<std::vector<ClaimedJob>> claim(ClaimRequest request) override {
    ++claims;
    co_await answer();
    if (away_after > 0 && --away_after == 0) away = true;
    std::vector<ClaimedJob> claimed;
    for (auto& [id, kept] : jobs) {
      if (kept.status != JobStatus::queued || claimed.size() == request.limit) continue;
      kept.status = JobStatus::running;
      claimed.push_back({.id = id,
                         .kind = kept.job.kind,
                         .payload = kept.job.payload,
                         .attempt = ++kept.attempts,
                         .token = ++kept.token,
                         .throttle_key = kept.job.throttle_key});
    }
    co_return claimed;
  }
  Task<std::vector<Verdict>> complete(std::vector<Completion> completions) override {
    co_await answer();
    if (completing_takes > Duration{0}) co_await clock_.sleep_for(completing_takes);
    batches.push_back(completions.size());
    std::vector<Verdict> verdicts;
    for (Completion& one : completions) {
      verdicts.push_back(judge(one.job));
      if (verdicts.back() != Verdict::accepted) continue;
      jobs.at(one.job.id).status = JobStatus::succeeded;
      jobs.at(one.job.id).result = std::move(one.result);
    }
    co_return verdicts;
  }
  Task<std::vector<FailVerdict>> fail(std::vector<Failure> failures) override {
    co_await answer();
    std::vector<FailVerdict> verdicts;
    for (Failure& one : failures) {
      verdicts.push_back({judge(one.job), one.permanent});
      if (verdicts.back().verdict != Verdict::accepted) continue;
      Kept& kept = jobs.at(one.job.id);
      kept.status = one.permanent ? JobStatus::dead : JobStatus::failed;
      if (one.released) --kept.attempts;
      kept.error = std::move(one.error);
    }
    co_return verdicts;
  }
  Task<std::vector<Verdict>> renew(std::vector<LockedJob> locks) override {
    co_await answer();
    ++renewals;
    std::vector<Verdict> verdicts;
    for (const LockedJob& lock : locks) verdicts.push_back(judge(lock));
    co_return verdicts;
  }
  Task<Tended> tend() override {
    co_await answer();
    ++tended;
    const Time now = clock_.wall() + engine_ahead;
    if (due && *due <= now) due.reset();
    co_return Tended{.next = due, .now = now, .died = std::exchange(dying, {})};
  }
  Task<size_t> purge(Duration age, size_t most) override {
    co_await answer();
    purged_age = age;
    const size_t purged = std::min(most, old);
    old -= purged;
    co_return purged;
  }

  Task<size_t> forget_idle_keys(size_t most) override {
    co_await answer();
    const size_t forgotten = std::min(most, idle_keys);
    idle_keys -= forgotten;
    co_return forgotten;
  }

  Task<size_t> forget_requests(Duration, size_t most) override {
    co_await answer();
    const size_t forgotten = std::min(most, old_requests);
    old_requests -= forgotten;
    co_return forgotten;
  }

  Task<std::optional<Job>> find(JobId id) override {
    co_await answer();
    const auto found = jobs.find(id);
    if (found == jobs.end()) co_return std::nullopt;
    const Kept& kept = found->second;
    Job job{.id = id, .kind = kept.job.kind, .payload = kept.job.payload};
    job.status = kept.status;
    job.attempts = kept.attempts;
    job.max_attempts = 2;
    job.throttle_key = kept.job.throttle_key;
    job.history = kept.history;
    co_return job;
  }
  Task<JobPage> list(JobFilter, std::optional<JobId>, size_t) override { throw std::logic_error("not pretended"); }
  Task<JobStats> stats() override { throw std::logic_error("not pretended"); }
  Task<std::optional<bool>> retry(JobId) override { throw std::logic_error("not pretended"); }
  Task<std::optional<bool>> cancel(JobId id) override {
    co_await answer();
    const auto found = jobs.find(id);
    if (found == jobs.end()) co_return std::nullopt;
    const bool waits = found->second.status == JobStatus::queued || found->second.status == JobStatus::failed;
    if (waits) found->second.status = JobStatus::canceled;
    co_return waits;
  }

  JobId add(NewJob job) {
    const JobId id = JobId::make(clock_.wall(), random_);
    jobs.emplace(id, Kept{std::move(job)});
    return id;
  }
  // Another worker has claimed it.
  void steal(JobId id) { ++jobs.at(id).token; }
  size_t count(JobStatus status) const {
    size_t found = 0;
    for (const auto& [id, kept] : jobs) found += kept.status == status ? 1 : 0;
    return found;
  }

  std::map<JobId, Kept> jobs;
  std::set<messaging::MessageId> seen;
  std::vector<size_t> batches;  // of `complete`
  int claims = 0;
  int renewals = 0;
  int tended = 0;
  Duration engine_ahead{0};  // its clock, of everybody else's
  std::optional<Time> due;   // by its clock
  size_t old = 0;            // finished jobs that may be purged
  Duration purged_age{0};
  size_t old_requests = 0;  // that may be forgotten
  size_t idle_keys = 0;
  bool refuses = false;
  std::vector<JobId> dying;  // with the next look
  bool away = false;
  int away_after = 0;  // so many claims; 0: never
  Duration takes{0};
  Duration completing_takes{0};  // besides that

 private:
  Task<> answer() {
    if (takes > Duration{0}) co_await clock_.sleep_for(takes);
    if (away) throw EngineUnavailable("database", "away");
    if (refuses) throw EngineRefused("no such table");
  }
  Verdict judge(const LockedJob& lock) const {
    const auto found = jobs.find(lock.id);
    if (found == jobs.end()) return Verdict::unknown;
    if (found->second.token != lock.token) return Verdict::stale_lock;
    return found->second.status == JobStatus::running ? Verdict::accepted : Verdict::not_running;
  }

  Clock& clock_;
  SeededRandom random_{7};
};

}  // namespace sluice::jobs
