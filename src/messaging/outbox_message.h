// A message about a change, written in the transaction of the change.
#pragma once

#include <string>

#include "messaging/message.h"

namespace sluice::messaging {

// An aggregate (a reservation, a payment) is the object that changed; its messages arrive in the order of its changes.
struct OutboxMessage {
  std::string topic;
  std::string aggregate_type;
  std::string aggregate_id;  // the message's key
  int64_t aggregate_version = 0;
  std::string event_type;
  std::string payload;
  // Besides those that the other fields become.
  Headers headers{};
  MessageId id{};
  std::string traceparent{};  // of the request that caused it (http::Request has it); empty: none did
};

// The headers of an outbox row: those given and the traceparent, which are not columns.
Headers row_headers(const OutboxMessage& message);

// As it goes through the log, with every header that message.h names.
Message to_message(OutboxMessage outbox_message);

}  // namespace sluice::messaging
