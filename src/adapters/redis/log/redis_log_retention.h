// Removes messages from the log in Redis once their topic's retention is over.
//
// In small steps, so that no other command waits for it. Any number of processes may do it; the result is the same.
#pragma once

#include "adapters/redis/log/redis_log.h"
#include "runtime/task_scope.h"

namespace sluice::redis {

// Drops everything before the offset, in steps.
Task<> trim_before(Redis& redis, LogPartition partition, int64_t before);

// Belongs to one executor. References must outlive it.
class RedisLogRetention {
 public:
  RedisLogRetention(RedisLog& log, Random& random) : log_(log), random_(random) {}

  // Sweeps now and then for as long as the scope lasts.
  void start(TaskScope& scope, Duration every = 1min);
  Task<> sweep();

 private:
  Task<> sweep_and_wait(Duration every);

  RedisLog& log_;
  Random& random_;
};

}  // namespace sluice::redis
