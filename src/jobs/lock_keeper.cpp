#include "jobs/lock_keeper.h"

#include <algorithm>

#include "runtime/log.h"

namespace sluice::jobs {
namespace {

constexpr Backoff while_away{.first = 100ms, .factor = 2, .max = 1s};
// Waits have an end, also where nothing is to be done.
constexpr Duration longest_wait = 1min;

}  // namespace

LockKeeper::LockKeeper(JobStore& store, const JobKinds& kinds, Clock& clock, Random& random, JobsInHand& in_hand,
                       const Executor& executor)
    : store_(store), kinds_(kinds), clock_(clock), random_(random), in_hand_(in_hand), changed_(executor) {}

void LockKeeper::start(TaskScope& scope) {
  scope.spawn("job heartbeats",
              run_forever("job heartbeats", clock_, random_, [this] { return renew_round(); }, while_away));
  scope.spawn("job watch", run_forever("job watch", clock_, random_, [this] { return watch_round(); }));
}

// Three heartbeats for each lock: two may be missed.
void LockKeeper::take(RunningJob& running, Instant asked_at) const {
  const Duration ttl = kinds_.of(running.job.kind).lock_ttl;
  running.locked_until = asked_at + ttl;
  running.renew_at = asked_at + ttl / 3;
}

Task<> LockKeeper::renew_round() {
  const Instant now = clock_.now();
  Instant next = now + longest_wait;
  std::vector<LockedJob> due;
  const auto look_at = [&](const RunningJob& job) {
    if (job.lost) return;
    if (job.renew_at <= now) due.push_back(job.lock());
    next = std::min(next, job.renew_at);
  };
  for (const RunningJob& job : in_hand_.running) {
    // A handler that continues after its time limit does not keep the job from others.
    if (!job.overdue) look_at(job);
  }
  for (const RunningJob& job : in_hand_.ended) look_at(job);
  if (due.empty()) {
    co_await changed_.wait_until(clock_, next);
    co_return;
  }
  const std::vector<Verdict> verdicts = co_await store_.renew(due);
  std::map<LockedJob, Verdict> by_lock;
  for (size_t i = 0; i < due.size(); ++i) by_lock.emplace(due[i], verdicts[i]);
  settle(by_lock, now);
}

// The lock of a job that ended meanwhile may be refused because its end was written: that verdict counts.
void LockKeeper::settle(const std::map<LockedJob, Verdict>& verdicts, Instant asked_at) {
  for (RunningJob& ended : in_hand_.ended) {
    const auto found = verdicts.find(ended.lock());
    if (found != verdicts.end()) take(ended, asked_at);
  }
  for (auto at = in_hand_.running.begin(); at != in_hand_.running.end();) {
    RunningJob& running = *at++;  // a job may end, and leave the list, while it is told
    const auto found = verdicts.find(running.lock());
    if (found != verdicts.end()) settle(running, found->second, asked_at);
  }
}

void LockKeeper::settle(RunningJob& running, Verdict verdict, Instant asked_at) const {
  if (verdict == Verdict::accepted) return take(running, asked_at);
  log::warning("the lock of a job was lost; the job is stopped",
               {{"job", running.job.id.text()}, {"kind", running.job.kind}, {"reason", enum_name(verdict)}});
  lose(running);
}

void LockKeeper::lose(RunningJob& running) {
  running.lost = true;
  running.cancel();
}

Task<> LockKeeper::watch_round() {
  const Instant now = clock_.now();
  Instant next = now + longest_wait;
  for (auto at = in_hand_.running.begin(); at != in_hand_.running.end();) {
    RunningJob& running = *at++;
    if (running.scope.closed()) continue;  // it was told already
    if (running.locked_until <= now) {
      log::warning("the lock of a job was not renewed in time; the job is stopped",
                   {{"job", running.job.id.text()}, {"kind", running.job.kind}});
      lose(running);
    } else if (running.deadline.at <= now) {
      running.overdue = true;
      running.cancel();
    } else {
      next = std::min({next, running.locked_until, running.deadline.at});
    }
  }
  co_await changed_.wait_until(clock_, next);
}

}  // namespace sluice::jobs
