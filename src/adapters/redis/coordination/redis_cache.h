// Cached copies in Redis, one hash each, shared by all instances.
//
// Changes that make near copies outdated are published on `changes_channel`, with the key as the message.
#pragma once

#include "adapters/redis/client/redis.h"
#include "adapters/redis/client/subscriber.h"
#include "coordination/cache_store.h"
#include "coordination/near_cache.h"

namespace sluice::redis {

class RedisCache : public coordination::CacheStore {
 public:
  static constexpr const char* changes_channel = "sluice:cache:changes";

  explicit RedisCache(Redis& redis) : redis_(redis) {}

  std::optional<coordination::CachedCopy> peek(std::string_view) override { return std::nullopt; }
  Task<coordination::CacheAnswer> look_up(std::string key, coordination::TicketWish wish) override;
  Task<bool> fill(std::string key, coordination::LoadTicket ticket, coordination::CacheEntry entry) override;
  Task<> give_up(std::string key, coordination::LoadTicket ticket) override;
  Task<> put(std::string key, coordination::CacheEntry entry) override;
  Task<> remove(std::string key) override;

 private:
  Redis& redis_;
};

// Carries the changes to a near cache. Belongs to the subscriber's executor.
class RedisCacheChanges : public Listener {
 public:
  explicit RedisCacheChanges(coordination::CopyInvalidation& near) : near_(near) {}

  void on_listening() override { near_.listening(); }
  void on_interrupted() override { near_.interrupted(); }
  void on_message(std::string_view, std::string_view key) override { near_.changed(key); }

 private:
  coordination::CopyInvalidation& near_;
};

}  // namespace sluice::redis
