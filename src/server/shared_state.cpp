#include "server/shared_state.h"

#include "adapters/memory/memory_cache.h"
#include "adapters/memory/memory_coalescing.h"
#include "adapters/memory/memory_leases.h"
#include "adapters/memory/memory_limit.h"
#include "adapters/memory/memory_slots.h"
#include "adapters/redis/coordination/redis_coalescing.h"
#include "adapters/redis/coordination/redis_denial_copy.h"
#include "adapters/redis/coordination/redis_leases.h"
#include "adapters/redis/coordination/redis_limit.h"
#include "adapters/redis/coordination/redis_slots.h"
#include "adapters/sql/coordination/sql_leases.h"
#include "adapters/sql/coordination/sql_limit.h"
#include "adapters/sql/coordination/sql_slots.h"
#include "base/id.h"
#include "coordination/counted_coalescing.h"

namespace sluice::server {

using enum CoordinationEngine;

SharedState::SharedState(const Settings& settings, Engines& engines, Clock& clock, Random& random, TaskScope& scope,
                         Executor executor)
    : engines_(engines),
      clock_(clock),
      random_(random),
      executor_(std::move(executor)),
      chosen_(settings.coordination.resolved(settings.postgres.used(), settings.redis.used())) {
  make_cache(settings, scope);
  if (chosen_.denylist == redis) denial_copy_ = std::make_unique<redis::RedisDenialCopy>(*engines_.redis());
}

SharedState::~SharedState() = default;

coordination::Leases& SharedState::leases(Service service) {
  const Service owner = chosen_.leases == database ? service : Service{};
  auto& made = leases_[owner];
  if (!made) made = make_leases(service);
  return *made;
}

coordination::Slots& SharedState::slots(Service service) {
  const Service owner = chosen_.slots == database ? service : Service{};
  auto& made = slots_[owner];
  if (!made) made = make_slots(service);
  return *made;
}

coordination::SharedLimit& SharedState::limit(Service service, coordination::LimitPlan plan) {
  switch (chosen_.limits) {
    case redis:
      limits_.push_back(std::make_unique<redis::RedisLimit>(*engines_.redis(), std::move(plan), clock_));
      break;
    case database:
      limits_.push_back(std::make_unique<sql::SqlLimit>(engines_.of(service), std::move(plan), clock_));
      break;
    case memory:
    case automatic: limits_.push_back(std::make_unique<memory::MemoryLimit>(std::move(plan), clock_)); break;
  }
  return *limits_.back();
}

Task<coordination::Coalescing*> SharedState::coalescing(coordination::VersionFloors& floors,
                                                        coordination::CoalescingPlan plan, std::string name) {
  std::unique_ptr<coordination::Coalescing> made;
  if (chosen_.coalescing == redis) {
    made = std::make_unique<redis::RedisCoalescing>(*engines_.redis(), floors, std::move(plan), std::move(name));
  } else {
    const std::string run = Uuid::v7(clock_.wall(), random_).text();
    const coordination::RunFloor floor = co_await floors.floor_of(run);
    made = std::make_unique<memory::MemoryCoalescing>(std::move(plan), floor, clock_);
  }
  auto counted = std::make_unique<coordination::CountedCoalescing>(*made);
  coordination::Coalescing* given = counted.get();
  coalescings_.push_back(std::move(made));
  coalescings_.push_back(std::move(counted));
  co_return given;
}

Task<> SharedState::close() {
  if (subscriber_) co_await subscriber_->close();
}

std::unique_ptr<coordination::Leases> SharedState::make_leases(Service service) {
  switch (chosen_.leases) {
    case redis: return std::make_unique<redis::RedisLeases>(*engines_.redis());
    case database: return std::make_unique<sql::SqlLeases>(engines_.of(service));
    case memory:
    case automatic: break;
  }
  return std::make_unique<memory::MemoryLeases>(clock_, engines_.journal());
}

std::unique_ptr<coordination::Slots> SharedState::make_slots(Service service) {
  switch (chosen_.slots) {
    case redis: return std::make_unique<redis::RedisSlots>(*engines_.redis());
    case database: return std::make_unique<sql::SqlSlots>(engines_.of(service));
    case memory:
    case automatic: break;
  }
  return std::make_unique<memory::MemorySlots>(clock_, engines_.journal());
}

void SharedState::make_cache(const Settings& settings, TaskScope& scope) {
  const CacheSettings& config = settings.coordination.cache;
  const auto bytes = static_cast<size_t>(config.memory_bytes);
  if (chosen_.cache == redis) {
    cache_stores_.push_back(std::make_unique<redis::RedisCache>(*engines_.redis()));
    auto near = std::make_unique<coordination::NearCache>(*cache_stores_.back(), clock_,
                                                          coordination::NearCacheOptions{.max_bytes = bytes});
    cache_changes_ = std::make_unique<redis::RedisCacheChanges>(*near);
    const std::vector<std::string> channels{redis::RedisCache::changes_channel};
    subscriber_ = std::make_unique<redis::Subscriber>(settings.redis, executor_, clock_, channels, *cache_changes_);
    cache_stores_.push_back(std::move(near));
  } else {
    cache_stores_.push_back(std::make_unique<memory::MemoryCache>(clock_, bytes));
  }
  cache_ = std::make_unique<coordination::SharedCache>(*cache_stores_.back(), config.copies, clock_, random_, scope,
                                                       executor_);
}

}  // namespace sluice::server
