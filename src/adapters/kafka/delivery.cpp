#include "adapters/kafka/delivery.h"

namespace sluice::kafka {
namespace {

std::string_view view(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

messaging::HeaderViews headers_of(const rd_kafka_message_t& message) {
  messaging::HeaderViews views;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return views;
  views.reserve(rd_kafka_header_cnt(headers));
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    views.emplace_back(name, view(value, size));
  }
  return views;
}

}  // namespace

FetchedMessages::~FetchedMessages() {
  for (rd_kafka_message_t* message : messages) rd_kafka_message_destroy(message);
}

messaging::Delivery delivery_of(rd_kafka_message_t& message, std::shared_ptr<const messaging::Assignment> assignment,
                                std::shared_ptr<const void> owner) {
  const int64_t milliseconds = rd_kafka_message_timestamp(&message, nullptr);
  return {.assignment = std::move(assignment),
          .offset = message.offset,
          .published_at = Time(std::chrono::milliseconds(std::max<int64_t>(0, milliseconds))),
          .key = view(message.key, message.key_len),
          .payload = view(message.payload, message.len),
          .headers = headers_of(message),
          .owner = std::move(owner)};
}

}  // namespace sluice::kafka
