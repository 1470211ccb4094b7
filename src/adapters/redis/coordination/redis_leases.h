// Leases in Redis.
//
// A lease is a key with a time to live: Redis ends it by its own clock. Redis may lose one (a wipe, or a failover
// before the replica received it), and then gives it twice: see coordination/leases.h for why that is allowed. An
// acquire with an unknown outcome may have taken the lease; it expires by itself. Thread-safe.
#pragma once

#include "adapters/redis/client/redis.h"
#include "coordination/leases.h"

namespace sluice::redis {

class RedisLeases final : public coordination::Leases {
 public:
  explicit RedisLeases(Redis& redis) : redis_(redis) {}

  Task<std::optional<coordination::LeaseToken>> acquire(std::string key, std::string owner, Duration ttl) override;
  Task<coordination::Renewal<coordination::Lease>> renew(std::vector<coordination::Lease> leases,
                                                         Duration ttl) override;
  Task<> release(coordination::Lease lease) override;
  Task<std::optional<coordination::LeaseHolder>> holder(std::string key) override;

  // Where a lease is kept, for people with redis-cli.
  static std::string place_of(const std::string& key);

 private:
  enum class Look { only, and_end };

  Task<std::optional<coordination::LeaseHolder>> end_any(std::string key) override;
  Task<std::optional<coordination::LeaseHolder>> look(std::string key, Look look);
  // Leases of one bucket, which one script renews.
  Task<> renew_some(std::vector<coordination::Lease> leases, Duration ttl,
                    coordination::Renewal<coordination::Lease>& renewal);

  Redis& redis_;
};

}  // namespace sluice::redis
