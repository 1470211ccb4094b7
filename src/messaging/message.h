// A message of the log.
//
// A message has a topic, a key that keeps its order (messages of one key arrive in the order they were published), a
// payload (JSON unless stated otherwise) and headers. Some headers have a meaning everywhere:
//
//   message-id          tells a message from its repetitions; a consumer that knows it has seen the message
//   message-type        the kind of event, "ReservationConfirmed"
//   aggregate-type, aggregate-version   the changed thing (the key is its id) and the number of its change
//   traceparent         the request that caused it
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace sluice::messaging {

namespace header {
inline constexpr std::string_view message_id = "message-id";
inline constexpr std::string_view message_type = "message-type";
inline constexpr std::string_view aggregate_type = "aggregate-type";
inline constexpr std::string_view aggregate_version = "aggregate-version";
inline constexpr std::string_view traceparent = "traceparent";
}  // namespace header

struct MessageTag;
using MessageId = Id<MessageTag>;

// Names are unique; their order means nothing.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct Message {
  std::string topic;
  std::string key;
  std::string payload;
  Headers headers{};
};

// Limit on key, payload and headers together. A log rejects larger messages, even if its engine could store them: a
// message that fits one engine fits all.
inline constexpr size_t max_message_bytes = size_t{4} << 20;
size_t bytes_of(const Message& message);
// Limit on one read of the log, besides its last message: a reader that wants more reads again.
inline constexpr size_t bytes_at_once = size_t{4} << 20;

// The place of a message. Offsets of a partition grow, with gaps, and never repeat.
struct Position {
  std::string topic;
  int32_t partition = 0;
  int64_t offset = 0;

  auto operator<=>(const Position&) const = default;
};

// The period in which one member of a group owns a partition. Everything of an earlier period is void.
struct Assignment {
  std::string topic;
  int32_t partition = 0;
};

using HeaderViews = std::vector<std::pair<std::string_view, std::string_view>>;

// A message as a reader gets it: views into memory that `owner` keeps, so that copying one is cheap.
struct Delivery {
  std::shared_ptr<const Assignment> assignment;  // its address is its identity
  int64_t offset = 0;
  Time published_at{};  // by the log's clock
  std::string_view key{};
  std::string_view payload{};
  HeaderViews headers{};
  std::shared_ptr<const void> owner{};

  Position position() const { return {assignment->topic, assignment->partition, offset}; }
  std::optional<std::string_view> header(std::string_view name) const;
  // Nothing where the header is missing or is no id.
  std::optional<MessageId> message_id() const;
  // A copy that owns its memory.
  Message message() const;
};

size_t bytes_of(const Delivery& delivery);

// Which of `partitions` a key belongs to: murmur2, as Kafka's clients have it, on every engine.
int32_t partition_of(std::string_view key, int32_t partitions);

}  // namespace sluice::messaging
