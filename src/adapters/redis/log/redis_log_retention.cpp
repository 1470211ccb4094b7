#include "adapters/redis/log/redis_log_retention.h"

#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_scripts.h"
#include "runtime/retry.h"

namespace sluice::redis {
namespace {

// At once: about a millisecond of Redis' time.
constexpr int most_at_once = 5'000;

// `before` is an id, or empty: then messages older than `kept`.
Task<> trim_in_steps(Redis& redis, LogPartition partition, std::string before, Duration kept) {
  const LogKeys keys(partition);
  bool more = true;
  while (more) {
    Command command = Command(log_scripts::trim, {keys.messages})
                          .arg(before)
                          .arg(std::chrono::ceil<std::chrono::milliseconds>(kept).count())
                          .arg(most_at_once)
                          .repeatable();
    const Reply reply = co_await redis.run(std::move(command));
    more = reply.integer() == 1;
  }
}

}  // namespace

Task<> trim_before(Redis& redis, LogPartition partition, int64_t before) {
  return trim_in_steps(redis, std::move(partition), stream_id(before), Duration{0});
}

void RedisLogRetention::start(TaskScope& scope, Duration every) {
  const auto round = [this, every] { return sweep_and_wait(every); };
  scope.spawn("log retention", run_forever("log retention", log_.clock(), random_, round));
}

Task<> RedisLogRetention::sweep_and_wait(Duration every) {
  co_await sweep();
  co_await log_.clock().sleep_for(every);
}

Task<> RedisLogRetention::sweep() {
  const std::vector<messaging::Topic> topics = co_await log_.catalogue().all();
  for (const messaging::Topic& topic : topics) {
    for (int32_t i = 0; i < topic.partitions; ++i) {
      LogPartition partition{topic.name, i};
      co_await trim_in_steps(log_.redis(), std::move(partition), "", topic.retention);
    }
  }
}

}  // namespace sluice::redis
