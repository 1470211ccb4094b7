// One call of publish: sorts messages by partition and appends each partition's in their order.
//
// Partitions are published to concurrently, the messages of one in batches one after the other: a batch that fails ends
// its partition, so that nothing is stored behind a message that was not. Other partitions are not affected.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "adapters/redis/log/redis_log.h"

namespace sluice::redis {

class LogPublishing {
 public:
  // `new_life` names the memory of a partition that Redis does not know.
  LogPublishing(RedisLog& log, std::vector<messaging::Message> messages, std::string new_life);

  Task<std::vector<messaging::Published>> run();

 private:
  using Indexes = std::vector<size_t>;

  Task<> find_topics();
  Task<> restore();
  void sort();
  std::optional<messaging::Rejected> refuse(const messaging::Message& message) const;
  Task<> append_all(LogPartition partition, Indexes indexes);
  void fail(const EngineUnavailable& error, std::span<const size_t> indexes);
  Task<> append(LogPartition partition, std::span<const size_t> batch);
  Command command_for(const LogPartition& partition, std::span<const size_t> batch) const;
  size_t batch_size(std::span<const size_t> indexes) const;

  RedisLog& log_;
  const std::vector<messaging::Message> messages_;
  const std::string new_life_;
  std::vector<messaging::Published> outcomes_;
  std::map<std::string, std::optional<messaging::Topic>> topics_;
  std::map<LogPartition, Indexes> by_partition_;
  bool forgotten_ = false;      // Redis knew nothing of a partition
  std::exception_ptr failure_;  // of a partition; Overloaded only where there is no other
};

}  // namespace sluice::redis
