// The log in Redis: a stream for each partition.
//
// What it promises is what Redis promises: an acknowledged message is in the memory of the server that took it, and on
// disk and on a replica as that server is set up. A server that is wiped has forgotten messages, groups and topics;
// `memory` tells, topics are declared again, groups start at the oldest there is, and offsets go on growing. Redis must
// not evict keys (maxmemory-policy noeviction): when it is full, publishing fails, and goes on once retention or
// somebody else made room.
//
// Each partition of a group is read under a lease that is kept beside it, so that one script sees both: whoever has
// lost it can neither read nor commit, however late it wakes up. Which member is to have which partition every member
// computes for itself (messaging/log_shares.h); one that has too many gives them back when their work is done, a dead
// one's lease ends.
#pragma once

#include "adapters/redis/redis.h"
#include "adapters/redis/redis_log_catalogue.h"
#include "adapters/redis/redis_log_news.h"
#include "base/random.h"
#include "messaging/message_log.h"

namespace sluice::redis {

// Commands that carry messages get more time than small ones.
inline constexpr Duration log_bulk_time = 5s;

// Safe to use from any thread. Outlives its subscriptions and views.
class RedisLog final : public messaging::MessageLog {
 public:
  // `name` is what its members are called in views, without spaces; `random` is safe to use from any thread. References
  // must outlive it. Word of new messages comes by a Subscriber to LogNews::channel with `news` as its listener.
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
