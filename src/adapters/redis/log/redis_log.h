// The log in Redis: a stream for each partition.
//
// Its guarantees are those of Redis: an acknowledged message is in the memory of the server that took it, and on disk
// and on a replica as that server is configured. A wiped server has lost messages, groups and topics; `memory` reports
// it, topics are declared again, groups start at the oldest message, and offsets continue to grow. Redis must not evict
// keys (maxmemory-policy noeviction): when it is full, publishing fails, and continues once memory is free again.
//
// Each partition of a group is read under a lease that is kept beside it, so that one script sees both: a member that
// has lost it can neither read nor commit, however late it wakes up. Every member computes the assignment of partitions
// itself (messaging/log_shares.h); a member with too many releases them when their work is done, a dead one's lease
// expires.
#pragma once

#include "adapters/redis/client/redis.h"
#include "adapters/redis/log/redis_log_catalogue.h"
#include "adapters/redis/log/redis_log_news.h"
#include "base/random.h"
#include "messaging/message_log.h"

namespace sluice::redis {

// Commands that carry messages get more time than small ones.
inline constexpr Duration log_bulk_time = 5s;

// Safe to use from any thread. Outlives its subscriptions and views.
class RedisLog final : public messaging::MessageLog {
 public:
  // `name` is the name of its members in views, without spaces; `random` is thread-safe. References must outlive it.
  // Notifications of new messages come from a Subscriber to LogNews::channel with `news` as its listener.
  RedisLog(Redis& redis, Clock& clock, Random& random, std::string name);

  Task<> declare(std::vector<messaging::Topic> topics) override;
  Task<std::vector<messaging::Published>> publish(std::vector<messaging::Message> messages) override;
  Task<int32_t> partitions(std::string topic) override;
  std::unique_ptr<messaging::Subscription> subscribe(messaging::SubscriptionConfig config, Executor executor) override;
  Task<Memory> memory(std::string topic) override;

  // For the log's other parts.
  Redis& redis() { return redis_; }
  Clock& clock() { return clock_; }
  LogCatalogue& catalogue() { return catalogue_; }
  LogNews& news() { return news_; }
  // Tells publishers apart.
  const std::string& id() const { return id_; }

 private:
  std::string new_id();

  Redis& redis_;
  Clock& clock_;
  Random& random_;
  const std::string name_;
  const std::string id_;
  LogCatalogue catalogue_;
  LogNews news_;
};

}  // namespace sluice::redis
