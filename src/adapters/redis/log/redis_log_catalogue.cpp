#include "adapters/redis/log/redis_log_catalogue.h"

#include <charconv>

#include <fmt/format.h>

#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_scripts.h"
#include "base/check.h"
#include "runtime/log.h"

namespace sluice::redis {

using messaging::Topic;

namespace {

// "12 604800000000"
Topic topic_of(const std::string& name, const std::string& value) {
  Topic topic{name};
  int64_t retention = 0;
  const char* const end = value.data() + value.size();
  const auto partitions = std::from_chars(value.data(), end, topic.partitions);
  const bool two = partitions.ec == std::errc() && partitions.ptr != end;
  if (!two || std::from_chars(partitions.ptr + 1, end, retention).ec != std::errc() || topic.partitions < 1) {
    throw EngineUnavailable(engine_name, fmt::format("topic {} is \"{}\"", name, value),
                            EngineUnavailable::Retryable::no);
  }
  topic.retention = Duration{retention};
  return topic;
}

}  // namespace

Task<> LogCatalogue::declare(std::vector<Topic> topics) {
  if (topics.empty()) co_return;
  Command command = Command(log_scripts::declare, {log_topics_key}).repeatable();
  for (const Topic& topic : topics) {
    check_that(messaging::is_topic_name(topic.name) && topic.partitions > 0, "topic \"{}\" of {} partitions",
               topic.name, topic.partitions);
    command.arg(topic.name).arg(topic.partitions).arg(topic.retention.count());
  }
  const Reply kept = co_await redis_.run(std::move(command));
  for (size_t i = 0; i < topics.size(); ++i) {
    const auto partitions = static_cast<int32_t>(kept[i].integer());
    if (partitions != topics[i].partitions) {
      log::warning("the number of partitions of a topic cannot change; the old one is kept",
                   {{"topic", topics[i].name}, {"partitions", partitions}, {"declared", topics[i].partitions}});
      topics[i].partitions = partitions;
    }
    learn(topics[i]);
  }
}

Task<std::optional<Topic>> LogCatalogue::find(std::string name) {
  if (auto topic = known_topic(name)) co_return topic;
  Command command = Command("HGET").key(log_topics_key).arg(name).repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  if (reply.is_nil()) co_return std::nullopt;
  const Topic topic = topic_of(name, reply.text());
  learn(topic);
  co_return topic;
}

Task<std::vector<Topic>> LogCatalogue::all() {
  std::map<std::string, Topic> found = co_await read();
  std::vector<Topic> forgotten = everything_known();
  std::erase_if(forgotten, [&](const Topic& topic) { return found.contains(topic.name); });
  for (const auto& [name, topic] : found) learn(topic);
  if (!forgotten.empty()) {
    co_await declare(std::move(forgotten));
    found = co_await read();
  }
  std::vector<Topic> topics;
  for (auto& [name, topic] : found) topics.push_back(std::move(topic));
  co_return topics;
}

Task<> LogCatalogue::restore() {
  co_await all();
}

LogCatalogue::Known LogCatalogue::known(const LogPartition& partition) const {
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? Known{} : found->second;
}

void LogCatalogue::saw(const LogPartition& partition, int64_t offset) {
  const std::lock_guard lock(mutex_);
  int64_t& highest = partitions_[partition].highest;
  highest = std::max(highest, offset);
}

void LogCatalogue::remember(const LogPartition& partition, LogMemory memory) {
  const std::lock_guard lock(mutex_);
  partitions_[partition].memory = std::move(memory);
}

void LogCatalogue::doubt(const LogPartition& partition) {
  const std::lock_guard lock(mutex_);
  ++partitions_[partition].generation;
}

Task<std::map<std::string, Topic>> LogCatalogue::read() {
  Command command = Command("HGETALL").key(log_topics_key).repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  std::map<std::string, Topic> topics;
  const Reply::Array& fields = reply.array();
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    topics.emplace(fields[i].text(), topic_of(fields[i].text(), fields[i + 1].text()));
  }
  co_return topics;
}

std::optional<Topic> LogCatalogue::known_topic(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = topics_.find(name);
  if (found == topics_.end()) return std::nullopt;
  return found->second;
}

void LogCatalogue::learn(const Topic& topic) {
  const std::lock_guard lock(mutex_);
  topics_.insert_or_assign(topic.name, topic);
}

std::vector<Topic> LogCatalogue::everything_known() const {
  const std::lock_guard lock(mutex_);
  std::vector<Topic> topics;
  for (const auto& [name, topic] : topics_) topics.push_back(topic);
  return topics;
}

}  // namespace sluice::redis
