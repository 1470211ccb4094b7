// Removes expired messages of the embedded log.
//
// In batches of a few hundred blocks, each a separate write, so that no commit waits long.
#pragma once

#include "adapters/sqlite/log/log_topics.h"
#include "base/random.h"
#include "runtime/clock.h"

namespace sluice::sqlite {

// All of it outlives the loop.
class LogRetention {
 public:
  LogRetention(sql::Database& database, LogTopics& topics, Clock& clock, Random& random, Duration interval = 1min)
      : database_(database), topics_(topics), clock_(clock), random_(random), interval_(interval) {}

  // Removes expired blocks every `interval`, until it is cancelled.
  Task<> run();

  // Blocks older than their topic's retention, wherever they are. Returns how many there were.
  Task<int64_t> remove_expired();

 private:
  Task<> round();

  sql::Database& database_;
  LogTopics& topics_;
  Clock& clock_;
  Random& random_;
  const Duration interval_;
};

// Removes every message of the partition before the offset `before`.
Task<> trim_partition(sql::Database& database, int64_t topic, int32_t partition, int64_t before);

}  // namespace sluice::sqlite
