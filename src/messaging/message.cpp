#include "messaging/message.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace sluice::messaging {
namespace {

// Kafka's murmur2 (32 bits, its seed).
uint32_t murmur2(std::string_view text) {
  constexpr uint32_t seed = 0x9747b28c;
  constexpr uint32_t m = 0x5bd1e995;
  uint32_t hash = seed ^ static_cast<uint32_t>(text.size());
  while (text.size() >= 4) {
    uint32_t k;
    std::memcpy(&k, text.data(), 4);
    k *= m;
    k ^= k >> 24;
    k *= m;
    hash = hash * m ^ k;
    text.remove_prefix(4);
  }
  if (!text.empty()) {
    for (size_t i = text.size(); i-- > 0;) hash ^= static_cast<uint32_t>(static_cast<uint8_t>(text[i])) << (8 * i);
    hash *= m;
  }
  hash ^= hash >> 13;
  hash *= m;
  return hash ^ hash >> 15;
}

size_t sum_of(std::string_view key, std::string_view payload, const auto& headers) {
  size_t bytes = key.size() + payload.size();
  for (const auto& [name, value] : headers) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

size_t bytes_of(const Message& message) {
  return sum_of(message.key, message.payload, message.headers);
}

size_t bytes_of(const Delivery& delivery) {
  return sum_of(delivery.key, delivery.payload, delivery.headers);
}

std::optional<std::string_view> Delivery::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HeaderViews::value_type::first);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

std::optional<MessageId> Delivery::message_id() const {
  const auto text = header(header::message_id);
  if (!text) return std::nullopt;
  return MessageId::parse(*text);
}

Message Delivery::message() const {
  Message copy{assignment->topic, std::string(key), std::string(payload)};
  for (const auto& [name, value] : headers) copy.headers.emplace_back(name, value);
  return copy;
}

int32_t partition_of(std::string_view key, int32_t partitions) {
  check_that(partitions > 0, "a topic has {} partitions", partitions);
  return static_cast<int32_t>((murmur2(key) & 0x7fffffff) % static_cast<uint32_t>(partitions));
}

}  // namespace sluice::messaging
