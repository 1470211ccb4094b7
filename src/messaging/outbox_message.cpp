#include "messaging/outbox_message.h"

namespace sluice::messaging {

Headers row_headers(const OutboxMessage& message) {
  Headers headers = message.headers;
  if (!message.traceparent.empty()) headers.emplace_back(header::traceparent, message.traceparent);
  return headers;
}

Message to_message(OutboxMessage given) {
  Message message{
      .topic = std::move(given.topic), .key = std::move(given.aggregate_id), .payload = std::move(given.payload)};
  message.headers.reserve(5 + given.headers.size());
  message.headers.emplace_back(header::message_id, given.id.text());
  message.headers.emplace_back(header::message_type, std::move(given.event_type));
  message.headers.emplace_back(header::aggregate_type, std::move(given.aggregate_type));
  message.headers.emplace_back(header::aggregate_version, std::to_string(given.aggregate_version));
  std::ranges::move(given.headers, std::back_inserter(message.headers));
  if (!given.traceparent.empty()) message.headers.emplace_back(header::traceparent, std::move(given.traceparent));
  return message;
}

}  // namespace sluice::messaging
