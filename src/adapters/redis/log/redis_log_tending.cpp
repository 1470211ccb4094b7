// How a subscription keeps its partitions.
#include <algorithm>

#include "adapters/redis/client/together.h"
#include "adapters/redis/log/redis_log_subscription.h"

namespace sluice::redis {
namespace {

// News may get lost, so a member looks all the same.
constexpr Duration tend_at_least_every = 3s;
constexpr Duration tend_without_news_every = 1s;

}  // namespace

Task<> RedisSubscription::tend() {
  tend_at_ = clock_.now() + tend_every();
  std::set<LogPartition> wanted;
  try {
    wanted = co_await membership_.join();
    ask_back(wanted);
  } catch (const EngineUnavailable& error) {
    // The members are unknown; our partitions stay ours meanwhile.
    failed(error);
  }
  co_await tend_leases(std::move(wanted));
}

void RedisSubscription::ask_back(const std::set<LogPartition>& wanted) {
  for (const auto& [partition, owned] : owned_) {
    if (wanted.contains(partition) || owned->leave_by) continue;
    owned->leave_by = clock_.now() + config_.handover;
    leaving_.push_back(owned->assignment);
  }
}

Task<> RedisSubscription::tend_leases(std::set<LogPartition> wanted) {
  const Instant now = clock_.now();
  std::vector<Task<>> tasks;
  for (const auto& [partition, owned] : owned_) {
    wanted.erase(partition);
    if (owned->leave_by) tend_by(*owned->leave_by);
    const bool overdue = owned->leave_by && *owned->leave_by <= now;
    tasks.push_back(overdue ? give_up(owned) : renew(owned));
  }
  for (const LogPartition& partition : wanted) tasks.push_back(acquire(partition));
  co_await together(std::move(tasks));
}

Task<> RedisSubscription::renew(LeasedPartitionRef owned) {
  try {
    const std::optional<int64_t> end = co_await leases_.renew(owned);
    if (!end) {
      lose(owned);
    } else if (*end > owned->next) {
      owned->more = true;
    }
  } catch (const EngineUnavailable& error) {
    failed(error);
  }
}

Task<> RedisSubscription::acquire(LogPartition partition) {
  try {
    const LogLeases::Acquired acquired = co_await leases_.acquire(partition);
    if (acquired.owned) {
      owned_.insert_or_assign(partition, acquired.owned);
    } else {
      tend_by(clock_.now() + acquired.busy_for + 1ms);
    }
  } catch (const EngineUnavailable& error) {
    failed(error);
  }
}

// Its owner did not let go in time.
Task<> RedisSubscription::give_up(LeasedPartitionRef owned) {
  lose(owned);
  try {
    co_await leases_.let_go(owned);
  } catch (const EngineUnavailable& error) {
    failed(error);
  }
}

Duration RedisSubscription::tend_every() const {
  const Duration limit = log_.news().listening() ? tend_at_least_every : tend_without_news_every;
  return std::min(config_.session / 3, limit);
}

}  // namespace sluice::redis
