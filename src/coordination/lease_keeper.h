// Keeps leases alive while their work lasts.
//
// All leases of a process that were acquired or renewed at about the same time and for the same ttl form a batch, and a
// batch is renewed in one call, a third of the ttl after its last one. So keeping ten thousand leases costs a few calls
// and wakeups per ttl. A lease's stop token fires when the lease is known to be lost, and in any case before it can be:
// at nine tenths of the ttl after the last renewal that succeeded was *sent*. Work that heeds the token never runs
// beside its successor; work that does not is caught by the fence, where there is one.
//
//   LeaseKeeper<FencedLeases> keeper(...);   // guards writes
//   LeaseKeeper<Leases> keeper(...);         // a hint: see coordination/leases.h
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "coordination/fenced_leases.h"
#include "coordination/leases.h"
#include "coordination/turns.h"
#include "runtime/deadline.h"
#include "runtime/task_scope.h"

namespace sluice::coordination {

template <class Port>
class LeaseKeeper;

// A kept lease. Destroying it without release leaves it to expire.
template <class Port>
class KeptLease {
 public:
  // The lease as the engine gave it; with FencedLeases it has the fence that every write under the lease must carry.
  const Port::Held& held() const { return held_; }
  const std::string& key() const { return held_.key; }
  // Fires before the lease can be lost, and when it is released. Callbacks run on the keeper's thread.
  std::stop_token lost() const { return stop_.get_token(); }

 private:
  friend class LeaseKeeper<Port>;
  explicit KeptLease(Port::Held held) : held_(std::move(held)) {}

  Port::Held held_;
  std::stop_source stop_;
};

// Why there is no lease after waiting for one.
enum class NotKept { too_late, not_needed };

// Belongs to one executor.
template <class Port>
class LeaseKeeper {
 public:
  using Kept = KeptLease<Port>;
  using StillNeeded = std::function<Task<bool>()>;

  // `owner` is shown to people by `holder`.
  LeaseKeeper(Port& leases, Clock& clock, Random& random, std::string owner, const Executor& executor);

  // Nothing while the lease is held.
  Task<std::shared_ptr<Kept>> acquire(std::string key, Duration ttl);

  // Waits for the lease until `deadline`: callers of this keeper in order of arrival, keepers of other processes by
  // jittered polls. With the lease it checks `still_needed`, since the previous holder may have done the work, and
  // releases it at once if not. Throws Overloaded when too many wait for the key.
  Task<Result<std::shared_ptr<Kept>, NotKept>> acquire_within(std::string key, Duration ttl, Deadline deadline,
                                                              StillNeeded still_needed);

  // Gives it back at once, so that the next one need not wait for the ttl.
  Task<> release(std::shared_ptr<Kept> lease);

  // Renews kept leases for as long as the scope lasts; called once. Leases without references are dropped.
  void start(TaskScope& scope);

 private:
  struct Batch {
    Duration ttl;
    Instant sent;  // when the oldest of their last successful calls was sent
    Instant due;   // when to renew
    std::vector<std::shared_ptr<Kept>> leases{};
    bool asking = false;  // a renewal is running: no lease may join

    Instant safe_until() const { return sent + ttl * 9 / 10; }
  };
  using Batches = std::vector<std::shared_ptr<Batch>>;

  void keep(std::shared_ptr<Kept> lease, Duration ttl, Instant sent);
  Task<bool> needed_or_released(std::shared_ptr<Kept> lease, StillNeeded still_needed);
  Task<> renew_loop();
  Task<> watch_loop();
  std::shared_ptr<Batch> next_due() const;
  void gather(Batch& batch, Instant now);
  Task<> renew(std::shared_ptr<Batch> batch);
  void settle(Batch& batch, Renewal<typename Port::Held> answer, Instant sent);
  void give_up(std::vector<std::shared_ptr<Kept>> lost);

  Port& leases_;
  Clock& clock_;
  Random& random_;
  std::string owner_;
  Turns turns_;
  Wakeup more_;
  Batches batches_;
};

extern template class LeaseKeeper<Leases>;
extern template class LeaseKeeper<FencedLeases>;

}  // namespace sluice::coordination
