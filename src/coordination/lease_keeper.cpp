#include "coordination/lease_keeper.h"

#include <algorithm>

#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/retry.h"

namespace sluice::coordination {
namespace {

const metrics::Counter leases_lost{"leases_lost_total", "Leases lost before their work ended."};

// One renewal is one transaction or a handful of script calls: large enough to cost little, small enough to delay no
// caller.
constexpr size_t most_in_batch = 500;
constexpr size_t most_waiting = 1'000;
// How often the first in line asks for a lease that another process holds.
constexpr Backoff polling{.first = 20ms, .factor = 1.6, .max = 500ms};

// The two ports' answers to a renewal.
template <class Held>
Renewal<Held> as_renewal(std::vector<Held> renewed) {
  return {.renewed = std::move(renewed)};
}
template <class Held>
Renewal<Held> as_renewal(Renewal<Held> renewal) {
  return renewal;
}

// Removes from `leases` those that `named` names, and returns them.
template <class Kept, class Held>
std::vector<std::shared_ptr<Kept>> take_out(std::vector<std::shared_ptr<Kept>>& leases, std::vector<Held> named) {
  std::ranges::sort(named);
  const auto found = std::ranges::partition(
      leases, [&](const auto& lease) { return !std::ranges::binary_search(named, lease->held()); });
  std::vector<std::shared_ptr<Kept>> taken(found.begin(), found.end());
  leases.erase(found.begin(), found.end());
  return taken;
}

}  // namespace

template <class Port>
LeaseKeeper<Port>::LeaseKeeper(Port& leases, Clock& clock, Random& random, std::string owner, const Executor& executor)
    : leases_(leases),
      clock_(clock),
      random_(random),
      owner_(std::move(owner)),
      turns_(executor, most_waiting),
      more_(executor) {}

template <class Port>
auto LeaseKeeper<Port>::acquire(std::string key, Duration ttl) -> Task<std::shared_ptr<Kept>> {
  const Instant sent = clock_.now();
  const auto token = co_await leases_.acquire(key, owner_, ttl);
  if (!token) co_return nullptr;
  std::shared_ptr<Kept> lease(new Kept({std::move(key), *token}));
  keep(lease, ttl, sent);
  co_return lease;
}

template <class Port>
void LeaseKeeper<Port>::keep(std::shared_ptr<Kept> lease, Duration ttl, Instant sent) {
  // Joining a batch that is a little older only renews the lease, or stops its work, a little sooner than need be.
  const auto joinable = std::ranges::find_if(batches_, [&](const auto& batch) {
    return !batch->asking && batch->ttl == ttl && batch->sent <= sent && sent <= batch->sent + ttl / 10 &&
           batch->leases.size() < most_in_batch;
  });
  if (joinable != batches_.end()) {
    (*joinable)->leases.push_back(std::move(lease));
    return;
  }
  auto batch = std::make_shared<Batch>(Batch{.ttl = ttl, .sent = sent, .due = sent + ttl / 3});
  batch->leases.push_back(std::move(lease));
  batches_.push_back(std::move(batch));
  more_.notify_all();
}

template <class Port>
auto LeaseKeeper<Port>::acquire_within(std::string key, Duration ttl, Deadline deadline, StillNeeded still_needed)
    -> Task<Result<std::shared_ptr<Kept>, NotKept>> {
  const std::unique_ptr<Turns::Place> place = turns_.join(key);
  unsigned tried = 0;
  while (!deadline.passed(clock_)) {
    Instant again = deadline.at;
    if (place->first()) {
      std::shared_ptr<Kept> lease = co_await acquire(key, ttl);
      if (lease) {
        const bool needed = co_await needed_or_released(lease, still_needed);
        if (!needed) co_return NotKept::not_needed;
        co_return lease;
      }
      again = std::min(again, clock_.now() + polling.delay(tried++, random_));
    }
    co_await place->wait_until(clock_, again);
  }
  co_return NotKept::too_late;
}

template <class Port>
Task<bool> LeaseKeeper<Port>::needed_or_released(std::shared_ptr<Kept> lease, StillNeeded still_needed) {
  bool needed = false;
  std::exception_ptr failed;
  try {
    needed = co_await still_needed();
  } catch (...) {
    failed = std::current_exception();
  }
  if (!needed) co_await release(lease);
  if (failed) std::rethrow_exception(failed);
  co_return needed;
}

template <class Port>
Task<> LeaseKeeper<Port>::release(std::shared_ptr<Kept> lease) {
  lease->stop_.request_stop();  // its batch drops it at the next renewal
  const typename Port::Held held = lease->held_;
  co_await leases_.release(held);
  turns_.nudge(held.key);
}

template <class Port>
void LeaseKeeper<Port>::start(TaskScope& scope) {
  // Two loops: watching must not wait for a renewal that hangs, because that is when it matters.
  scope.spawn("lease renewal", renew_loop());
  scope.spawn("lease watch", watch_loop());
}

template <class Port>
Task<> LeaseKeeper<Port>::renew_loop() {
  while (true) {
    const std::shared_ptr<Batch> batch = next_due();
    const Instant due = batch ? batch->due : Instant::max();
    if (due > clock_.now()) {
      co_await more_.wait_until(clock_, due);
    } else {
      gather(*batch, clock_.now());
      co_await renew(batch);
    }
  }
}

template <class Port>
auto LeaseKeeper<Port>::next_due() const -> std::shared_ptr<Batch> {
  const auto first = std::ranges::min_element(batches_, {}, [](const auto& batch) { return batch->due; });
  return first == batches_.end() ? nullptr : *first;
}

template <class Port>
void LeaseKeeper<Port>::gather(Batch& batch, Instant now) {
  // Leases that are due a little later go along, so small batches merge over time. A batch that has failed for a while
  // stays apart, or the others would share its early end.
  const Duration near = batch.ttl / 10;
  const Instant oldest = batch.sent - near;
  const Instant newest = batch.sent + near;
  std::erase_if(batches_, [&](const auto& other) {
    if (other.get() == &batch || other->ttl != batch.ttl || other->due > now + near || other->sent < oldest ||
        other->sent > newest || batch.leases.size() + other->leases.size() > most_in_batch) {
      return false;
    }
    batch.sent = std::min(batch.sent, other->sent);
    std::ranges::move(other->leases, std::back_inserter(batch.leases));
    return true;
  });
  std::erase_if(batch.leases,
                [](const auto& lease) { return lease.use_count() == 1 || lease->stop_.stop_requested(); });
}

template <class Port>
Task<> LeaseKeeper<Port>::renew(std::shared_ptr<Batch> batch) {
  const Instant sent = clock_.now();
  std::vector<typename Port::Held> asked;
  for (const auto& lease : batch->leases) asked.push_back(lease->held_);
  Renewal<typename Port::Held> answer;
  if (!asked.empty()) {
    batch->asking = true;
    try {
      auto renewed = co_await leases_.renew(asked, batch->ttl);
      answer = as_renewal(std::move(renewed));
    } catch (const EngineUnavailable& error) {
      answer = {.unknown = std::move(asked), .failure = error.what()};
    } catch (const EngineRefused& error) {
      answer = {.unknown = std::move(asked), .failure = error.what()};
    }
    batch->asking = false;
  }
  settle(*batch, std::move(answer), sent);
  std::erase_if(batches_, [](const auto& each) { return each->leases.empty(); });
}

template <class Port>
void LeaseKeeper<Port>::settle(Batch& batch, Renewal<typename Port::Held> answer, Instant sent) {
  const Batch before{.ttl = batch.ttl, .sent = batch.sent, .due = clock_.now() + batch.ttl / 10};
  batch.sent = sent;
  batch.due = sent + batch.ttl / 3;
  if (answer.renewed.size() == batch.leases.size()) return;

  // Leases without an answer are asked about again soon; watch_loop stops their work in time.
  const auto unknown = take_out(batch.leases, std::move(answer.unknown));
  if (!unknown.empty()) {
    log::warning("renewing leases failed", {{"leases", unknown.size()}, {"error", answer.failure}});
    batches_.push_back(std::make_shared<Batch>(before));
    batches_.back()->leases = unknown;
  }
  auto renewed = take_out(batch.leases, std::move(answer.renewed));
  give_up(std::exchange(batch.leases, std::move(renewed)));
}

template <class Port>
void LeaseKeeper<Port>::give_up(std::vector<std::shared_ptr<Kept>> lost) {
  for (const auto& lease : lost) {
    if (lease.use_count() == 1 || lease->stop_.stop_requested()) continue;  // it has no user any more
    leases_lost.add();
    log::warning("lease lost", {{"lease", lease->key()}});
    lease->stop_.request_stop();
  }
}

template <class Port>
Task<> LeaseKeeper<Port>::watch_loop() {
  while (true) {
    Instant next = Instant::max();
    const Instant now = clock_.now();
    std::vector<std::shared_ptr<Kept>> lost;
    for (const auto& batch : batches_) {
      if (batch->safe_until() > now) {
        next = std::min(next, batch->safe_until());
        continue;
      }
      std::ranges::move(batch->leases, std::back_inserter(lost));
      batch->leases.clear();
    }
    // One that is being renewed is the renewal's to remove.
    std::erase_if(batches_, [](const auto& batch) { return batch->leases.empty() && !batch->asking; });
    give_up(std::move(lost));  // last: a notified holder may acquire again at once
    co_await more_.wait_until(clock_, next);
  }
}

template class LeaseKeeper<Leases>;
template class LeaseKeeper<FencedLeases>;

}  // namespace sluice::coordination
