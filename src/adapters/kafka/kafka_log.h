// The log on Apache Kafka.
//
// Messages are acknowledged by all in-sync replicas (a topic has three if there are as many brokers, and two must have
// it), sent once by an idempotent producer, in batches compressed with zstd. Keys go to the partition that every Kafka
// client chooses. While brokers are unavailable calls fail within their timeouts; everything recovers by itself.
//
// librdkafka has its own threads. They communicate with ours over file descriptors; blocking calls go to two threads
// reserved for them.
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
  // Starts connecting; the first call shows whether the brokers answer. `executor`, which one thread runs, and `clock`
  // must outlive it. Throws std::runtime_error with one sentence if the configuration is invalid.
  KafkaLog(KafkaConfig config, Executor executor, Clock& clock);
  // Close it first.
  ~KafkaLog() override;

  // Fails pending calls. On the executor.
  Task<> close();

  // Returns if a broker has answered just now; throws EngineUnavailable within about a second if none does. Cheap
  // enough to be called all the time.
  Task<> reach();

  Task<> declare(std::vector<messaging::Topic> topics) override;
  Task<std::vector<messaging::Published>> publish(std::vector<messaging::Message> messages) override;
  Task<int32_t> partitions(std::string topic) override;
  std::unique_ptr<messaging::Subscription> subscribe(messaging::SubscriptionConfig config, Executor executor) override;
  // Always the same: messages acknowledged by a topic's replicas are not lost.
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
