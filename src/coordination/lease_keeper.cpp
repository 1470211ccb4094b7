#include "coordination/lease_keeper.h"

#include <map>

#include "runtime/errors.h"
#include "runtime/log.h"
#include "runtime/metrics.h"

namespace sluice::coordination {
namespace {
const metrics::Counter leases_lost{"leases_lost_total", "Leases that ended before their work did."};
}

Task<std::shared_ptr<KeptLease>> LeaseKeeper::acquire(std::string key, Duration ttl) {
  const Instant sent = clock_.now();
  const std::optional<Fence> fence = co_await leases_.acquire(key, owner_, ttl);
  if (!fence) co_return nullptr;
  std::shared_ptr<KeptLease> lease(new KeptLease({std::move(key), *fence}, ttl, sent));
  kept_.push_back(lease);
  more_.notify_all();
  co_return lease;
}

Task<> LeaseKeeper::release(std::shared_ptr<KeptLease> lease) {
  std::erase(kept_, lease);
  lease->stop_.request_stop();
  const HeldLease held = lease->held_;
  co_await leases_.release(held);
}

void LeaseKeeper::start(TaskScope& scope) {
  // Two loops: watching must not wait for a renewal that hangs, because that is when it matters.
  scope.spawn("lease renewal", renew_loop());
  scope.spawn("lease watch", watch_loop());
}

Task<> LeaseKeeper::renew_loop() {
  while (true) {
    drop_unused();
    Instant next = Instant::max();
    for (const auto& lease : kept_) next = std::min(next, renew_at(*lease));
    if (next > clock_.now()) {
      co_await more_.wait_until(clock_, next);
    } else {
      co_await renew_due();
    }
  }
}

Task<> LeaseKeeper::renew_due() {
  const Instant sent = clock_.now();
  std::map<Duration, std::vector<std::shared_ptr<KeptLease>>> due;
  for (const auto& lease : kept_) {
    if (renew_at(*lease) > sent) continue;
    lease->tried_ = sent;
    due[lease->ttl_].push_back(lease);
  }
  for (const auto& [ttl, leases] : due) {
    std::vector<HeldLease> asked;
    for (const auto& lease : leases) asked.push_back(lease->held_);
    std::map<std::string, Fence> renewed;
    try {
      const std::vector<HeldLease> answer = co_await leases_.renew(std::move(asked), ttl);
      for (const HeldLease& held : answer) renewed.emplace(held.key, held.fence);
    } catch (const EngineUnavailable& error) {
      log::warning("leases could not be renewed", {{"leases", leases.size()}, {"error", error.what()}});
      continue;  // they are tried again in a third of their ttl; watch_loop stops their work in time
    }
    for (const auto& lease : leases) {
      const auto found = renewed.find(lease->key());
      if (found != renewed.end() && found->second == lease->fence()) {
        lease->sent_ = sent;
      } else {
        lease->sent_ = sent - lease->ttl_;  // watch_loop finds it overdue
      }
    }
    more_.notify_all();
  }
}

Task<> LeaseKeeper::watch_loop() {
  while (true) {
    Instant next = Instant::max();
    const Instant now = clock_.now();
    std::erase_if(kept_, [&](const auto& lease) {
      if (safe_until(*lease) > now) {
        next = std::min(next, safe_until(*lease));
        return false;
      }
      leases_lost.add();
      log::warning("lease lost", {{"lease", lease->key()}, {"fence", lease->fence()}});
      lease->stop_.request_stop();
      return true;
    });
    co_await more_.wait_until(clock_, next);
  }
}

void LeaseKeeper::drop_unused() {
  std::erase_if(kept_, [](const auto& lease) { return lease.use_count() == 1; });
}

}  // namespace sluice::coordination
