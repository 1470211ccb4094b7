#include "jobs/outside_tries.h"

namespace sluice::jobs {

void OutsideTries::began(const std::vector<ClaimedJob>& claimed, Instant now) {
  const std::lock_guard lock(mutex_);
  for (const ClaimedJob& job : claimed) {
    const LockedJob locked{job.id, job.token};
    tries_.push_back({locked, job.kind, job.throttle_key, now});
    by_job_[locked] = std::prev(tries_.end());
  }
  while (tries_.size() > most) {
    by_job_.erase(tries_.front().job);
    tries_.pop_front();
  }
}

std::optional<OutsideTries::Ended> OutsideTries::ended(const LockedJob& job, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_job_.find(job);
  if (found == by_job_.end()) return std::nullopt;
  Try& one = *found->second;
  Ended ended{std::move(one.kind), std::move(one.throttle_key), std::chrono::floor<Duration>(now - one.began)};
  tries_.erase(found->second);
  by_job_.erase(found);
  return ended;
}

}  // namespace sluice::jobs
