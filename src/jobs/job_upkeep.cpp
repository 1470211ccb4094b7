#include "jobs/job_upkeep.h"

#include <algorithm>

namespace sluice::jobs {
namespace {

constexpr Duration shortest_wait = 5ms;
constexpr Duration longest_wait = 1s;
constexpr Duration purge_every = 1min;
constexpr size_t purged_at_once = 1'000;
constexpr size_t keys_at_once = 10'000;

}  // namespace

void JobUpkeep::start(TaskScope& scope) {
  scope.spawn("job upkeep", run_forever("job upkeep", clock_, random_, [this] { return tend_round(); }));
  scope.spawn("job retention", run_forever("job retention", clock_, random_, [this] { return purge_round(); }));
}

Task<> JobUpkeep::tend_round() {
  const Tended tended = co_await store_.tend();
  for (const JobId& id : tended.died) {
    if (failures_ != nullptr) failures_->add(id, "its worker stopped responding", true);
  }
  const std::optional<Time> next = tended.next;
  if (comes_due_) bell_.ring();
  const Duration until_next = next ? *next - tended.now : longest_wait;
  comes_due_ = next && until_next < longest_wait;
  const Duration wait = std::clamp(until_next, shortest_wait, longest_wait);
  co_await clock_.sleep_for(wait);
}

Task<> JobUpkeep::purge_round() {
  const size_t purged = co_await store_.purge(retention_, purged_at_once);
  const size_t forgotten = co_await store_.forget_requests(retention_, purged_at_once);
  if (purged == purged_at_once || forgotten == purged_at_once) co_return;
  const size_t idle = co_await store_.forget_idle_keys(keys_at_once);
  if (idle >= keys_at_once / 2) co_return;
  co_await clock_.sleep_for(purge_every);
}

}  // namespace sluice::jobs
