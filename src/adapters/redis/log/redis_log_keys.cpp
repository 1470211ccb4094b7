#include "adapters/redis/log/redis_log_keys.h"

#include <charconv>

#include <fmt/format.h>

#include "adapters/redis/client/redis.h"

namespace sluice::redis {
namespace {

constexpr int sequence_bits = 20;
constexpr int64_t sequence_mask = (int64_t{1} << sequence_bits) - 1;

}  // namespace

LogKeys::LogKeys(const LogPartition& partition) {
  tag_ = fmt::format("sluice:{{log:{}:{}}}", partition.topic, partition.partition);
  messages = tag_ + ":messages";
  state = tag_ + ":state";
  groups = tag_ + ":groups";
}

std::string LogKeys::generation_of(std::string_view publisher) const {
  return fmt::format("{}:generation:{}", tag_, publisher);
}

std::string log_members_key(std::string_view group) {
  return fmt::format("sluice:{{log-group:{}}}:members", group);
}

std::string stream_id(int64_t offset) {
  return fmt::format("{}-{}", offset >> sequence_bits, offset & sequence_mask);
}

int64_t offset_of(std::string_view id) {
  int64_t milliseconds = 0;
  int64_t sequence = 0;
  const char* const end = id.data() + id.size();
  const auto first = std::from_chars(id.data(), end, milliseconds);
  const bool dashed = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
  const auto second = dashed ? std::from_chars(first.ptr + 1, end, sequence) : first;
  if (!dashed || second.ec != std::errc() || second.ptr != end || sequence > sequence_mask) {
    throw EngineUnavailable(engine_name, fmt::format("\"{}\" is not an id of the log", id),
                            EngineUnavailable::Retryable::no);
  }
  return milliseconds << sequence_bits | sequence;
}

Time time_of(int64_t offset) {
  return Time{std::chrono::milliseconds{offset >> sequence_bits}};
}

std::string log_news_of(const LogPartition& partition) {
  return fmt::format("{}:{}", partition.topic, partition.partition);
}

std::string log_news_of_group(std::string_view group) {
  return fmt::format("group {}", group);
}

}  // namespace sluice::redis
