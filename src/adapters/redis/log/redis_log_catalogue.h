// This process's knowledge of the log: its topics, the highest offsets it has seen, the reported memories.
//
// Redis may lose everything. A process that notices restores it, so that topics exist and offsets never go back.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/log/redis_log_keys.h"
#include "messaging/topic.h"

namespace sluice::redis {

// The memory of a partition's server, as in messaging::MessageLog.
struct LogMemory {
  std::string life{};
  std::string run{};
};

// Safe to use from any thread.
class LogCatalogue {
 public:
  explicit LogCatalogue(Redis& redis) : redis_(redis) {}

  // A topic that exists with another number of partitions keeps it; that is logged.
  Task<> declare(std::vector<messaging::Topic> topics);
  // Asks Redis where this process has never heard of it. Nothing where Redis hasn't either.
  Task<std::optional<messaging::Topic>> find(std::string name);
  // By name, as in Redis. Topics lost by Redis are declared again.
  Task<std::vector<messaging::Topic>> all();
  // Redis has forgotten something.
  Task<> restore();

  // Facts that publishers tell Redis about a partition.
  struct Known {
    int64_t highest = 0;     // offset that was seen; new ones are above
    LogMemory memory{};      // as of the last query; empty if there was none
    int64_t generation = 0;  // grows when the outcome of a call was not learned
  };
  Known known(const LogPartition& partition) const;
  void saw(const LogPartition& partition, int64_t offset);
  void remember(const LogPartition& partition, LogMemory memory);
  // Published messages may still be in flight: later values count more.
  void doubt(const LogPartition& partition);

 private:
  Task<std::map<std::string, messaging::Topic>> read();
  std::optional<messaging::Topic> known_topic(const std::string& name) const;
  void learn(const messaging::Topic& topic);
  std::vector<messaging::Topic> everything_known() const;

  Redis& redis_;
  mutable std::mutex mutex_;
  std::map<std::string, messaging::Topic> topics_;  // guarded by mutex_
  std::map<LogPartition, Known> partitions_;        // guarded by mutex_
};

}  // namespace sluice::redis
