// The log on Apache Kafka.
//
// Messages are acknowledged by all replicas in sync (a topic has three where there are as many brokers, and two must
// have it), sent once by an idempotent producer, in batches packed with zstd. Keys go to the partition that every Kafka
// client chooses. While brokers are away calls fail within their timeouts; everything recovers by itself.
//
// librdkafka has threads of its own. They meet ours over file descriptors; what would block goes to two threads kept
// for that.
#pragma once

#include <memory>

#include "adapters/kafka/kafka_config.h"
#include "messaging/log_view.h"
#include "messaging/message_log.h"
#include "runtime/clock.h"

namespace sluice::kafka {

// Safe to use from any thread. Subscriptions and deliveries must be gone before it.
class KafkaLog final : public messaging::MessageLog, public messaging::LogView {
 public:
  // Starts connecting; whether the brokers answer shows with the first call. `executor`, which one thread runs, and
  // `clock` must outlive it. Throws std::runtime_error with one sentence where the configuration can't be used.
  KafkaLog(KafkaConfig config, Executor executor, Clock& clock);
  // Close it first.
  ~KafkaLog() override;

  // Fails what is pending. On the executor.
  Task<> close();

  // Returns when a broker has answered just now; throws EngineUnavailable within about a second where none does. Cheap
  // enough to be asked by everybody all the time.
  Task<> reach();

  Task<> declare(std::vector<messaging::Topic> topics) override;
  Task<std::vector<messaging::Published>> publish(std::vector<messaging::Message> messages) override;
  Task<int32_t> partitions(std::string topic) override;
  std::unique_ptr<messaging::Subscription> subscribe(messaging::SubscriptionConfig config, Executor executor) override;
  // Always the same: what a topic's replicas acknowledged stays.
  Task<Memory> memory(std::string topic) override;

  Task<std::vector<messaging::TopicView>> topics() override;
  Task<std::vector<messaging::GroupView>> groups() override;
  Task<std::vector<messaging::Delivery>> read(std::string topic, int32_t partition, int64_t from, size_t most) override;
  Task<> trim(std::string topic, int32_t partition, int64_t before) override;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::kafka
