// What this process knows of the log: its topics, and the highest offsets it has seen.
//
// Redis may forget everything. Whoever notices tells it again, so that topics are there and offsets never go back.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/redis/redis.h"
#include "adapters/redis/redis_log_shares.h"
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

  // Offsets of a partition that are published from now on are above.
  int64_t highest(const LogPartition& partition) const;
  void saw(const LogPartition& partition, int64_t offset);

  // As it was when the publisher last asked; empty where it never did.
  LogMemory memory(const LogPartition& partition) const;
  void remember(const LogPartition& partition, LogMemory memory);

 private:
  Task<std::map<std::string, messaging::Topic>> read();
  std::optional<messaging::Topic> known(const std::string& name) const;
  void learn(const messaging::Topic& topic);
  std::vector<messaging::Topic> everything_known() const;

  Redis& redis_;
  mutable std::mutex mutex_;
  std::map<std::string, messaging::Topic> topics_;  // guarded by mutex_
  std::map<LogPartition, int64_t> highest_;         // guarded by mutex_
  std::map<LogPartition, LogMemory> memories_;      // guarded by mutex_
};

}  // namespace sluice::redis
