// Slots in Redis.
//
// One hash per key. After a failover nothing is given out until the longest ttl has passed: the replica that took over
// may not have heard of the last slots, and they have all ended by then; those it has heard of can be renewed
// meanwhile. Redis that forgets a key altogether (a wipe, or a restart without its data) gives up to n more while the
// old ones are still at work. Where that must not be either, use the database's slots
// (adapters/sql/coordination/sql_slots.h). Callers of a key are expected to ask for about the same ttl. Safe to use
// from any thread.
#pragma once

#include "adapters/redis/client/redis.h"
#include "coordination/slots.h"

namespace sluice::redis {

class RedisSlots final : public coordination::Slots {
 public:
  explicit RedisSlots(Redis& redis) : redis_(redis) {}

  Task<std::optional<coordination::Slot>> take(std::string key, int64_t n, std::string owner, Duration ttl) override;
  Task<bool> renew(coordination::Slot slot, Duration ttl) override;
  Task<> give_back(coordination::Slot slot) override;
  Task<int64_t> in_use(std::string key) override;

  // Where a key's slots are kept, for people with redis-cli.
  static std::string place_of(const std::string& key) { return "sluice:slots:" + key; }

 private:
  Redis& redis_;
};

}  // namespace sluice::redis
