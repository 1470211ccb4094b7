#include "adapters/sqlite/log/embedded_log.h"

#include <set>

#include "adapters/sql/messaging/log_block.h"

namespace sluice::sqlite {
namespace {

using messaging::HeldBack;
using messaging::Message;
using messaging::Position;
using messaging::Published;
using messaging::Rejected;

}  // namespace

// The outcome of each message; positions of those to be stored still lack their offset.
struct EmbeddedLog::Screened {
  std::vector<Published> outcomes{};
  std::vector<LogEntry> entries{};
  bool unknown_topic = false;
};

EmbeddedLog::Screened EmbeddedLog::screen(const std::vector<Message>& messages) const {
  Screened screened;
  screened.outcomes.reserve(messages.size());
  screened.entries.reserve(messages.size());
  std::set<std::pair<std::string_view, std::string_view>> held_back;
  const auto refuse = [&](const Message& message, std::string reason) {
    held_back.emplace(message.topic, message.key);
    screened.outcomes.emplace_back(Rejected{std::move(reason)});
  };
  for (const Message& message : messages) {
    if (!held_back.empty() && held_back.contains({message.topic, message.key})) {
      screened.outcomes.emplace_back(HeldBack{});
      continue;
    }
    const auto topic = topics_.known(message.topic);
    if (!topic) {
      screened.unknown_topic = true;
      refuse(message, fmt::format("unknown topic {}", message.topic));
    } else if (bytes_of(message) > messaging::max_message_bytes) {
      refuse(message, fmt::format("a message may have at most {} bytes, not {}", messaging::max_message_bytes,
                                  bytes_of(message)));
    } else {
      const int32_t partition = messaging::partition_of(message.key, topic->partitions);
      screened.outcomes.emplace_back(Position{message.topic, partition});
      screened.entries.push_back({topic->id, partition, sql::log_record(message)});
    }
  }
  return screened;
}

// Not a coroutine: nearly every call has only one thing to wait for, and that is in `store`.
Task<std::vector<Published>> EmbeddedLog::publish(std::vector<Message> messages) {
  Screened screened = screen(messages);
  if (screened.unknown_topic) return publish_to_news(std::move(messages));
  return store(std::move(screened));
}

// Another process may have declared the topic.
Task<std::vector<Published>> EmbeddedLog::publish_to_news(std::vector<Message> messages) {
  co_await topics_.all();
  Screened screened = screen(messages);
  co_return co_await store(std::move(screened));
}

Task<std::vector<Published>> EmbeddedLog::store(Screened screened) {
  if (screened.entries.empty()) co_return std::move(screened.outcomes);
  LogAppender& appender = database_.log_appender();
  const LogAppender::Waiting waiting(appender, screened.entries);
  Write write{.messages = &screened.entries};
  co_await appender.submit(write);
  write.error.rethrow();
  auto entry = screened.entries.begin();
  for (Published& outcome : screened.outcomes) {
    if (auto* position = std::get_if<Position>(&outcome)) position->offset = (entry++)->offset;
  }
  bell_.ring();
  co_return std::move(screened.outcomes);
}

Task<int32_t> EmbeddedLog::partitions(std::string topic) {
  if (!topics_.known(topic)) co_await topics_.all();  // another process may have declared it
  const auto place = topics_.known(topic);
  co_return place ? place->partitions : 0;
}

std::unique_ptr<messaging::Subscription> EmbeddedLog::subscribe(messaging::SubscriptionConfig config,
                                                                Executor executor) {
  const EmbeddedLogParts parts{database_, clock_, bell_, topics_, groups_};
  return std::make_unique<EmbeddedSubscription>(parts, std::move(config), executor);
}

// Acknowledged messages are on the disk, so the log never loses any.
Task<messaging::MessageLog::Memory> EmbeddedLog::memory(std::string) {
  co_return Memory{.life = "embedded", .run = "embedded"};
}

}  // namespace sluice::sqlite
