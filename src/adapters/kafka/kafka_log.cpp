#include "adapters/kafka/kafka_log.h"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "adapters/kafka/broker_check.h"
#include "adapters/kafka/kafka_subscription.h"
#include "adapters/kafka/producers.h"
#include "adapters/kafka/reader.h"
#include "adapters/kafka/topics.h"
#include "runtime/task_scope.h"

namespace sluice::kafka {

using messaging::Delivery;
using messaging::GroupView;
using messaging::Message;
using messaging::Published;
using messaging::Topic;
using messaging::TopicView;

constexpr Duration longest_check = 1s;

class KafkaLog::Parts {
 public:
  Parts(KafkaConfig config, const Executor& executor, Clock& clock)
      : clock(clock),
        instances(std::move(config)),
        reader(std::make_shared<Reader>(instances)),
        pending_(std::make_shared<Pending>(instances.config().max_pending, instances.config().max_pending_bytes)),
        producers_(instances, executor, clock, pending_),
        scope_(executor) {
    asio::post(executor, [this] { scope_.spawn("kafka time limits", keep_time()); });
  }

  Task<> close() {
    co_await scope_.close();
    co_await producers_.close();
  }

  std::shared_ptr<Producer> producer() { return producers_.current(); }
  Admin admin() { return admin(instances.config().request_timeout); }
  Task<> reach() {
    const Admin quick = admin(std::min<Duration>(longest_check, instances.config().request_timeout));
    return check_.reach([quick] { return quick.why_unreachable(); });
  }

  Clock& clock;
  Instances instances;
  // Shared with calls under way, whose callers may have left.
  const std::shared_ptr<Reader> reader;

 private:
  Admin admin(Duration timeout) { return {producer()->instance(), timeout}; }

  Task<> keep_time() {
    const Duration every = std::clamp<Duration>(instances.config().send_timeout / 20, 10ms, 250ms);
    while (true) {
      co_await clock.sleep_for(every);
      Producer::resume(pending_->expire(clock.now()));
      producers_.drop_broken();
    }
  }

  const std::shared_ptr<Pending> pending_;
  Producers producers_;
  TaskScope scope_;
  BrokerCheck check_;
};

KafkaLog::KafkaLog(KafkaConfig config, Executor executor, Clock& clock)
    : parts_(std::make_unique<Parts>(std::move(config), executor, clock)) {}

KafkaLog::~KafkaLog() = default;

Task<> KafkaLog::close() {
  return parts_->close();
}

Task<> KafkaLog::reach() {
  return parts_->reach();
}

Task<> KafkaLog::declare(std::vector<Topic> topics) {
  const Admin admin = parts_->admin();
  const KafkaConfig& config = parts_->instances.config();
  Offload& offload = parts_->instances.offload();
  const auto make = [admin, topics, &config] { declare_topics(admin, topics, largest_batch(config)); };
  co_await offload.run(make);
  const Deadline deadline = Deadline::after(parts_->clock, config.request_timeout);
  const auto look = [admin, topics] { return are_served(admin, topics); };
  while (true) {
    const bool served = co_await offload.run(look);
    if (served) co_return;
    if (deadline.passed(parts_->clock))
      throw EngineUnavailable(engine_name, "a created topic did not become available in time");
    co_await parts_->clock.sleep_for(20ms);
  }
}

Task<std::vector<Published>> KafkaLog::publish(std::vector<Message> messages) {
  const std::shared_ptr<Producer> producer = parts_->producer();
  co_return co_await producer->publish(std::move(messages));
}

Task<int32_t> KafkaLog::partitions(std::string topic) {
  const auto ask = [admin = parts_->admin(), topic] {
    const Admin::Cluster cluster = admin.cluster();
    const auto found = cluster.partitions.find(topic);
    return found == cluster.partitions.end() ? 0 : found->second;
  };
  co_return co_await parts_->instances.offload().run(ask);
}

std::unique_ptr<messaging::Subscription> KafkaLog::subscribe(messaging::SubscriptionConfig config, Executor executor) {
  return std::make_unique<KafkaSubscription>(parts_->instances, std::move(config), std::move(executor), parts_->clock);
}

Task<KafkaLog::Memory> KafkaLog::memory(std::string) {
  co_return Memory{.life = engine_name, .run = engine_name};
}

Task<std::vector<TopicView>> KafkaLog::topics() {
  const auto ask = [admin = parts_->admin()] { return view_topics(admin); };
  co_return co_await parts_->instances.offload().run(ask);
}

Task<std::vector<GroupView>> KafkaLog::groups() {
  const auto ask = [admin = parts_->admin()] { return view_groups(admin); };
  co_return co_await parts_->instances.offload().run(ask);
}

Task<std::vector<Delivery>> KafkaLog::read(std::string topic, int32_t partition, int64_t from, size_t most) {
  const auto ask = [reader = parts_->reader, admin = parts_->admin(), topic, partition, from, most] {
    const messaging::PartitionBounds bounds = admin.bounds_of(topic, partition);
    if (from >= bounds.end || most == 0) return std::vector<Delivery>{};
    return reader->read(topic, partition, std::max(from, bounds.first), most);
  };
  co_return co_await parts_->instances.offload().run(ask);
}

Task<> KafkaLog::trim(std::string topic, int32_t partition, int64_t before) {
  const auto ask = [admin = parts_->admin(), topic, partition, before] {
    const messaging::PartitionBounds bounds = admin.bounds_of(topic, partition);
    if (before > bounds.first) admin.delete_before(topic, partition, std::min(before, bounds.end));
  };
  co_await parts_->instances.offload().run(ask);
}

}  // namespace sluice::kafka
