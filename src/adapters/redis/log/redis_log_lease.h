// A partition that a member of a group owns, and the operations on it.
//
// Every step carries the lease's token and does nothing once the lease has gone to another member. Until then an
// expired lease is still valid: no other member has read under another one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/log/redis_log_entry.h"
#include "adapters/redis/log/redis_log_keys.h"
#include "messaging/subscription.h"

namespace sluice::redis {

struct LeasedPartition {
  LeasedPartition(const LogPartition& partition, std::string lease_token, int64_t first);

  const LogPartition id;
  const LogKeys keys;
  const messaging::AssignmentRef assignment;
  const std::string token;
  int64_t next;      // to be read
  bool more = true;  // there may be something to read
  bool paused = false;
  bool ended = false;               // given back or lost
  std::optional<Instant> leave_by;  // asked back

  bool readable() const { return more && !paused && !ended && !leave_by; }
};
using LeasedPartitionRef = std::shared_ptr<LeasedPartition>;

// The leases of one member. Belongs to one executor.
class LogLeases {
 public:
  // `redis` must outlive it.
  LogLeases(Redis& redis, std::string group, std::string member, Duration session);

  struct Acquired {
    LeasedPartitionRef owned;  // null: owned by another member
    Duration busy_for{};       // how long at most
  };
  Task<Acquired> acquire(LogPartition partition);
  // The offset behind the last message; nothing where the lease is lost.
  Task<std::optional<int64_t>> renew(LeasedPartitionRef owned);
  // False where the lease is lost.
  Task<bool> commit(LeasedPartitionRef owned, int64_t next);
  Task<> let_go(LeasedPartitionRef owned);
  // From owned.next on; nothing where the lease is lost.
  Task<std::optional<LogPage>> read(LeasedPartitionRef owned, size_t most, size_t most_bytes);

 private:
  Command hold(const LogKeys& keys, std::string_view token) const;

  Redis& redis_;
  const std::string group_;
  const std::string member_;
  const Duration session_;
};

}  // namespace sluice::redis
