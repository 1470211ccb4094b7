#include "adapters/redis/log/redis_log_publishing.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/redis/client/together.h"
#include "adapters/redis/log/redis_log_entry.h"
#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_scripts.h"
#include "runtime/log.h"

namespace sluice::redis {

using messaging::HeldBack;
using messaging::Message;
using messaging::Position;
using messaging::Published;
using messaging::Rejected;
using messaging::Unknown;

namespace {

// A batch delays the commands of all other clients by about half a millisecond.
constexpr size_t most_in_batch = 256;
constexpr size_t most_bytes_in_batch = 1 << 20;

}  // namespace

LogPublishing::LogPublishing(RedisLog& log, std::vector<Message> messages, std::string new_life)
    : log_(log),
      messages_(std::move(messages)),
      new_life_(std::move(new_life)),
      outcomes_(messages_.size(), HeldBack{}) {}

Task<std::vector<Published>> LogPublishing::run() {
  co_await find_topics();
  sort();
  std::vector<Task<>> appends;
  for (auto& [partition, indexes] : by_partition_) appends.push_back(append_all(partition, std::move(indexes)));
  co_await together(std::move(appends));
  if (failure_ && messaging::nothing_known(outcomes_)) std::rethrow_exception(failure_);
  if (forgotten_) co_await restore();
  co_return std::move(outcomes_);
}

// The next listing of the topics does it too.
Task<> LogPublishing::restore() {
  try {
    co_await log_.catalogue().restore();
  } catch (const EngineUnavailable& error) {
    log::warning("restoring topics that Redis lost failed", {{"error", error.what()}});
  }
}

Task<> LogPublishing::find_topics() {
  for (const Message& message : messages_) topics_.try_emplace(message.topic);
  for (auto& [name, topic] : topics_) topic = co_await log_.catalogue().find(name);
}

void LogPublishing::sort() {
  std::set<std::pair<std::string_view, std::string_view>> rejected;
  for (size_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_[i];
    if (rejected.contains({message.topic, message.key})) continue;
    if (std::optional<Rejected> refusal = refuse(message)) {
      outcomes_[i] = std::move(*refusal);
      rejected.emplace(message.topic, message.key);
      continue;
    }
    const int32_t partition = messaging::partition_of(message.key, topics_.at(message.topic)->partitions);
    by_partition_[{message.topic, partition}].push_back(i);
  }
}

std::optional<Rejected> LogPublishing::refuse(const Message& message) const {
  if (!topics_.at(message.topic)) return Rejected{fmt::format("unknown topic \"{}\"", message.topic)};
  const size_t size = messaging::bytes_of(message);
  if (size <= messaging::max_message_bytes) return std::nullopt;
  return Rejected{fmt::format("the message has {} bytes; the limit is {}", size, messaging::max_message_bytes)};
}

Task<> LogPublishing::append_all(LogPartition partition, Indexes indexes) {
  std::span<const size_t> left = indexes;
  while (!left.empty()) {
    const std::span<const size_t> batch = left.first(batch_size(left));
    try {
      co_await append(partition, batch);
    } catch (const EngineUnavailable& error) {
      fail(error, left);
      co_return;
    }
    left = left.subspan(batch.size());
  }
}

void LogPublishing::fail(const EngineUnavailable& error, std::span<const size_t> indexes) {
  for (const size_t index : indexes) outcomes_[index] = Unknown{error.what()};
  const bool untouched = dynamic_cast<const Overloaded*>(&error) != nullptr;
  if (!failure_ || !untouched) failure_ = std::current_exception();
}

Task<> LogPublishing::append(LogPartition partition, std::span<const size_t> batch) {
  LogCatalogue& catalogue = log_.catalogue();
  Command command = command_for(partition, batch);
  Reply reply;
  try {
    reply = co_await log_.redis().run(std::move(command));
  } catch (const EngineUnavailable& error) {
    if (!error.retryable()) catalogue.doubt(partition);
    throw;
  } catch (...) {  // cancelled
    catalogue.doubt(partition);
    throw;
  }
  if (reply.is_text()) throw EngineUnavailable(engine_name, reply.text(), EngineUnavailable::Retryable::no);
  int64_t offset = offset_of(reply[0].text());
  for (const size_t index : batch) outcomes_[index] = Position{partition.topic, partition.partition, offset++};
  catalogue.saw(partition, offset - 1);
  forgotten_ |= reply[1].integer() == 1;
}

Command LogPublishing::command_for(const LogPartition& partition, std::span<const size_t> batch) const {
  const LogKeys keys(partition);
  const LogCatalogue::Known known = log_.catalogue().known(partition);
  Command command = Command(log_scripts::publish, {keys.messages, keys.state, keys.generation_of(log_.id())})
                        .arg(known.generation)
                        .arg(stream_id(known.highest))
                        .arg(new_life_)
                        .arg(known.memory.life)
                        .arg(known.memory.run)
                        .arg(LogNews::channel)
                        .arg(log_news_of(partition))
                        .within(log_bulk_time);
  for (const size_t index : batch) {
    const Message& message = messages_[index];
    command.arg(message.key).arg(message.payload).arg(pack_headers(message.headers));
  }
  return command;
}

size_t LogPublishing::batch_size(std::span<const size_t> indexes) const {
  size_t count = 0;
  size_t bytes = 0;
  while (count < std::min(indexes.size(), most_in_batch) && bytes < most_bytes_in_batch) {
    bytes += messaging::bytes_of(messages_[indexes[count++]]);
  }
  return count;
}

}  // namespace sluice::redis
