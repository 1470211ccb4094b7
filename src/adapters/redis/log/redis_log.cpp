#include "adapters/redis/log/redis_log.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/redis/client/together.h"
#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_publishing.h"
#include "adapters/redis/log/redis_log_scripts.h"
#include "adapters/redis/log/redis_log_subscription.h"
#include "base/check.h"
#include "base/id.h"

namespace sluice::redis {
namespace {

struct Recalled {
  LogMemory memory;
  bool forgotten = false;
};

Task<> recall(Redis& redis, LogPartition partition, std::string new_life, Recalled& recalled) {
  Command command = Command(log_scripts::remember, {LogKeys(partition).state}).arg(new_life).repeatable();
  const Reply reply = co_await redis.run(std::move(command));
  recalled = {{reply[0].text(), reply[1].text()}, reply[2].integer() == 1};
}

}  // namespace

RedisLog::RedisLog(Redis& redis, Clock& clock, Random& random, std::string name)
    : redis_(redis), clock_(clock), random_(random), name_(std::move(name)), id_(new_id()), catalogue_(redis) {
  check(!name_.contains(' '), "the name of a group member contains a space");
}

Task<> RedisLog::declare(std::vector<messaging::Topic> topics) {
  return catalogue_.declare(std::move(topics));
}

Task<std::vector<messaging::Published>> RedisLog::publish(std::vector<messaging::Message> messages) {
  LogPublishing publishing(*this, std::move(messages), new_id());
  co_return co_await publishing.run();
}

Task<int32_t> RedisLog::partitions(std::string topic) {
  const std::optional<messaging::Topic> found = co_await catalogue_.find(std::move(topic));
  co_return found ? found->partitions : 0;
}

std::unique_ptr<messaging::Subscription> RedisLog::subscribe(messaging::SubscriptionConfig config, Executor executor) {
  // Members are told apart by it also when they have the same name.
  const std::string member = fmt::format("{}/{}", name_, new_id());
  return std::make_unique<RedisSubscription>(*this, std::move(config), std::move(executor), member);
}

Task<messaging::MessageLog::Memory> RedisLog::memory(std::string topic) {
  const std::optional<messaging::Topic> found = co_await catalogue_.find(topic);
  if (!found) co_return Memory{};
  std::vector<Recalled> partitions(static_cast<size_t>(found->partitions));
  std::vector<Task<>> recalls;
  for (int32_t i = 0; i < found->partitions; ++i) {
    recalls.push_back(recall(redis_, {topic, i}, new_id(), partitions[static_cast<size_t>(i)]));
  }
  co_await together(std::move(recalls));
  const bool forgotten = std::ranges::any_of(partitions, &Recalled::forgotten);
  if (forgotten) co_await catalogue_.restore();
  // Only a returned answer counts as known, so no step may fail from here on.
  Memory memory;
  for (size_t i = 0; i < partitions.size(); ++i) {
    const LogMemory& recalled = partitions[i].memory;
    memory.life += recalled.life + " ";
    memory.run += recalled.run + " ";
    catalogue_.remember({topic, static_cast<int32_t>(i)}, recalled);
  }
  co_return memory;
}

std::string RedisLog::new_id() {
  return Uuid::v7(clock_.wall(), random_).text();
}

}  // namespace sluice::redis
