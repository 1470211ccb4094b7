#include "adapters/sqlite/embedded_log.h"

#include <algorithm>
#include <set>

#include "adapters/sql/log_block.h"

namespace sluice::sqlite {
namespace {

using messaging::HeldBack;
using messaging::Message;
using messaging::Position;
using messaging::Published;
using messaging::Rejected;

std::optional<std::string> reason_to_refuse(const Message& message, const LogTopics& topics) {
  if (!topics.known(message.topic)) return fmt::format("there is no topic {}", message.topic);
  const size_t bytes = messaging::bytes_of(message);
  if (bytes <= messaging::max_message_bytes) return std::nullopt;
  return fmt::format("{} bytes are more than the {} a message may have", bytes, messaging::max_message_bytes);
}

// What becomes of each message: positions, which lack their offset, for those to be stored.
std::vector<Published> screen(const std::vector<Message>& messages, const LogTopics& topics) {
  std::vector<Published> outcomes;
  outcomes.reserve(messages.size());
  std::set<std::pair<std::string_view, std::string_view>> held_back;
  for (const Message& message : messages) {
    if (held_back.contains({message.topic, message.key})) {
      outcomes.emplace_back(HeldBack{});
    } else if (auto reason = reason_to_refuse(message, topics)) {
      held_back.emplace(message.topic, message.key);
      outcomes.emplace_back(Rejected{std::move(*reason)});
    } else {
      const int32_t partitions = topics.known(message.topic).value().partitions;
      outcomes.emplace_back(Position{message.topic, messaging::partition_of(message.key, partitions)});
    }
  }
  return outcomes;
}

}  // namespace

Task<std::vector<Published>> EmbeddedLog::publish(std::vector<Message> messages) {
  const auto unknown = [this](const Message& message) { return !topics_.known(message.topic); };
  if (std::ranges::any_of(messages, unknown)) co_await topics_.all();
  std::vector<Published> outcomes = screen(messages, topics_);
  std::vector<LogAppender::Entry> entries;
  std::vector<Position*> positions;
  for (size_t i = 0; i < messages.size(); ++i) {
    auto* position = std::get_if<Position>(&outcomes[i]);
    if (position == nullptr) continue;
    positions.push_back(position);
    const int64_t topic = topics_.known(position->topic).value().id;
    entries.push_back({topic, position->partition, sql::log_record(messages[i])});
  }
  if (entries.empty()) co_return outcomes;
  const std::vector<LogAppender::Entry> stored = co_await database_.log_appender().append(std::move(entries));
  for (size_t i = 0; i < stored.size(); ++i) positions[i]->offset = stored[i].offset;
  bell_.ring();
  co_return outcomes;
}

std::unique_ptr<messaging::Subscription> EmbeddedLog::subscribe(messaging::SubscriptionConfig config,
                                                                Executor executor) {
  const EmbeddedLogParts parts{database_, clock_, bell_, topics_, groups_};
  return std::make_unique<EmbeddedSubscription>(parts, std::move(config), executor);
}

// What was acknowledged is on the disk.
Task<messaging::MessageLog::Memory> EmbeddedLog::memory(std::string) {
  co_return Memory{.life = "embedded", .run = "embedded"};
}

}  // namespace sluice::sqlite
