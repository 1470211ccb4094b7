// What this process knows of the log: its topics, the highest offsets it has seen, what it was told is remembered.
//
// Redis may forget everything. Whoever notices tells it again, so that topics are there and offsets never go back.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/redis/redis.h"
#include "adapters/redis/redis_log_keys.h"
#include "messaging/topic.h"

namespace sluice::redis {

// What a partition's server remembers, as messaging::MessageLog has it.
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
  // By name, as Redis has them. What Redis has forgotten is declared again.
  Task<std::vector<messaging::Topic>> all();
  // Redis has forgotten something.
  Task<> restore();

  // What publishers tell Redis about a partition.
  struct Known {
    int64_t highest = 0;     // offset that was seen; new ones are above
    LogMemory memory{};      // as it was when somebody last asked; empty where nobody did
    int64_t generation = 0;  // grows when the outcome of a call was not learned
  };
  Known known(const LogPartition& partition) const;
  void saw(const LogPartition& partition, int64_t offset);
  void remember(const LogPartition& partition, LogMemory memory);
  // What was published may still be on its way: what comes now counts more.
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
