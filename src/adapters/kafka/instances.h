// Instances of librdkafka: made from our configuration, destroyed where it may take its time.
//
// An instance has its own threads and its destruction waits for them, so that is done on a thread of this object; an
// instance that is kept longer, by an abandoned call or by a message, is destroyed by its last owner.
#pragma once

#include "adapters/kafka/handles.h"
#include "adapters/kafka/joining.h"
#include "adapters/kafka/kafka_config.h"
#include "messaging/subscription.h"
#include "runtime/offload.h"

namespace sluice::kafka {

// The size that brokers must accept: a batch, or a message that is larger, with its framing.
size_t largest_batch(const KafkaConfig& config);

// Safe to use from any thread.
class Instances {
 public:
  explicit Instances(KafkaConfig config);
  // Ends the calls that block.
  ~Instances();
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  const KafkaConfig& config() const { return config_; }

  // Throw std::runtime_error with one sentence where librdkafka does not take the configuration; EngineUnavailable
  // where it has no instance for us (no thread, no file).
  Instance producer();
  // Followed by `joining`, where there is one.
  Instance consumer(const messaging::SubscriptionConfig& subscription,
                    const std::shared_ptr<Joining>& joining = nullptr);
  // For reading without a group.
  Instance reader();

  // For calls that block.
  Offload& offload() { return offload_; }

 private:
  class Disposal;

  Conf common() const;
  // `listener` lives as long as the instance.
  Instance make(rd_kafka_type_t type, Conf conf, std::shared_ptr<void> listener = nullptr);

  const KafkaConfig config_;
  const std::shared_ptr<Disposal> disposal_;
  Offload offload_;
};

}  // namespace sluice::kafka
