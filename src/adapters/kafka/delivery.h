// Messages as librdkafka fetched them, seen as deliveries.
#pragma once

#include <memory>
#include <vector>

#include "adapters/kafka/handles.h"
#include "messaging/message.h"

namespace sluice::kafka {

// Messages that were fetched together and are given back together. They refer into their instance.
struct FetchedMessages {
  explicit FetchedMessages(Instance fetched_by) : instance(std::move(fetched_by)) {}
  ~FetchedMessages();
  FetchedMessages(const FetchedMessages&) = delete;
  FetchedMessages& operator=(const FetchedMessages&) = delete;

  Instance instance;
  std::vector<rd_kafka_message_t*> messages;
};

// Copies nothing; the delivery keeps `owner`, which keeps the message.
messaging::Delivery delivery_of(rd_kafka_message_t& message, std::shared_ptr<const messaging::Assignment> assignment,
                                std::shared_ptr<const void> owner);

}  // namespace sluice::kafka
