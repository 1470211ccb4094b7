// Keeps leases alive while their work lasts.
//
// One loop renews all leases of the process, every third of their ttl, in one statement per ttl. A lease's stop token
// fires when the lease is known to be lost, and in any case before it can be: at nine tenths of the ttl after the last
// renewal that succeeded was *sent*. Work that heeds the token never runs beside its successor; work that does not is
// caught by the fence.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "coordination/fenced_leases.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"
#include "runtime/wakeup.h"

namespace sluice::coordination {

// A lease somebody works under. Destroying it without release leaves it to expire.
class KeptLease {
 public:
  const std::string& key() const { return held_.key; }
  Fence fence() const { return held_.fence; }
  // Fires before the lease can be lost. Callbacks run on the keeper's thread.
  std::stop_token lost() const { return stop_.get_token(); }

 private:
  friend class LeaseKeeper;
  KeptLease(HeldLease held, Duration ttl, Instant sent)
      : held_(std::move(held)), ttl_(ttl), sent_(sent), tried_(sent) {}

  HeldLease held_;
  Duration ttl_;
  Instant sent_;   // when the last renewal that succeeded was sent
  Instant tried_;  // when the last renewal was sent, whatever became of it
  std::stop_source stop_;
};

// Belongs to one executor.
class LeaseKeeper {
 public:
  LeaseKeeper(FencedLeases& leases, Clock& clock, std::string owner, const Executor& executor)
      : leases_(leases), clock_(clock), owner_(std::move(owner)), more_(executor) {}

  // Nothing while somebody else holds it.
  Task<std::shared_ptr<KeptLease>> acquire(std::string key, Duration ttl);

  // Gives it back at once, so that the next one need not wait for the ttl.
  Task<> release(std::shared_ptr<KeptLease> lease);

  // Renews what is kept for as long as the scope lasts; called once. Leases nobody refers to any more are dropped.
  void start(TaskScope& scope);

 private:
  // When a lease is to be renewed next, and until when its work may go on.
  static Instant renew_at(const KeptLease& lease) { return lease.tried_ + lease.ttl_ / 3; }
  static Instant safe_until(const KeptLease& lease) { return lease.sent_ + lease.ttl_ * 9 / 10; }

  Task<> renew_loop();
  Task<> watch_loop();
  Task<> renew_due();
  void drop_unused();

  FencedLeases& leases_;
  Clock& clock_;
  std::string owner_;
  Wakeup more_;
  std::vector<std::shared_ptr<KeptLease>> kept_;
};

}  // namespace sluice::coordination
