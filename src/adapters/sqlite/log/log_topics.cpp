#include "adapters/sqlite/log/log_topics.h"

#include <stdexcept>

#include "runtime/log.h"

namespace sluice::sqlite {
namespace {

using messaging::Topic;
using sql::Params;
using sql::Rows;
using sql::Tx;
using sql::TxTask;

constexpr sql::Statement declare_topic =
    "INSERT INTO log_topics (name, partitions, retention) VALUES ($1, $2, $3) "
    "ON CONFLICT (name) DO UPDATE SET retention = excluded.retention RETURNING partitions";
constexpr sql::Statement read_topics = "SELECT id, name, partitions, retention FROM log_topics ORDER BY name";

// The partitions that each has.
TxTask<std::vector<int32_t>> declare_body(Tx& tx, std::vector<Topic> topics) {
  std::vector<int32_t> partitions;
  for (const Topic& topic : topics) {
    const Rows declared =
        co_await tx.execute(declare_topic, Params(topic.name, topic.partitions, topic.retention.count()));
    partitions.push_back(static_cast<int32_t>(declared.one().integer(0)));
  }
  co_return partitions;
}

}  // namespace

Task<> LogTopics::declare(std::vector<Topic> topics) {
  for (const Topic& topic : topics) {
    if (messaging::is_topic_name(topic.name) && topic.partitions > 0) continue;
    throw std::invalid_argument(fmt::format("invalid topic: {} with {} partitions", topic.name, topic.partitions));
  }
  const std::vector<int32_t> partitions = co_await database_.transact(declare_body, topics);
  for (size_t i = 0; i < topics.size(); ++i) {
    if (partitions[i] == topics[i].partitions) continue;
    log::warning("the number of partitions of a topic cannot change; the old one is kept",
                 {{"topic", topics[i].name}, {"partitions", partitions[i]}, {"declared", topics[i].partitions}});
  }
  co_await all();
}

Task<std::vector<LogTopic>> LogTopics::all() {
  const Rows rows = co_await database_.read(read_topics);
  std::vector<LogTopic> topics;
  for (const sql::Row& row : rows) {
    topics.push_back({row.integer(0), {row.text(1), static_cast<int32_t>(row.integer(2)), Duration(row.integer(3))}});
  }
  const std::lock_guard lock(mutex_);
  for (const LogTopic& each : topics) known_[each.topic.name] = {each.id, each.topic.partitions};
  co_return topics;
}

std::optional<LogTopics::Place> LogTopics::known(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

}  // namespace sluice::sqlite
