#include "adapters/redis/log/redis_log_view.h"

#include <algorithm>
#include <tuple>

#include "adapters/redis/client/together.h"
#include "adapters/redis/log/redis_log_entry.h"
#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_retention.h"
#include "adapters/redis/log/redis_log_scripts.h"

namespace sluice::redis {

using messaging::Delivery;
using messaging::GroupView;
using messaging::PartitionBounds;
using messaging::Topic;
using messaging::TopicView;

namespace {

Task<> look_at(Redis& redis, LogPartition partition, Reply& seen) {
  const LogKeys keys(partition);
  Command command = Command(log_scripts::look, {keys.messages, keys.state, keys.groups}).repeatable();
  seen = co_await redis.run(std::move(command));
}

// The answers of log_scripts::look for each partition.
Task<std::vector<Reply>> look_at_all(Redis& redis, Topic topic) {
  std::vector<Reply> seen(static_cast<size_t>(topic.partitions));
  std::vector<Task<>> looks;
  for (int32_t i = 0; i < topic.partitions; ++i) {
    looks.push_back(look_at(redis, {topic.name, i}, seen[static_cast<size_t>(i)]));
  }
  co_await together(std::move(looks));
  co_return seen;
}

PartitionBounds bounds_of(int32_t partition, const Reply& seen) {
  const std::string& oldest = seen[0].text();
  const std::string& last = seen[1].text();
  const int64_t end = last.empty() ? 0 : offset_of(last) + 1;
  return {partition, oldest.empty() ? end : offset_of(oldest), end};
}

void add_groups(std::vector<GroupView>& views, const std::string& topic, int32_t partition, const Reply& seen) {
  constexpr size_t fields = 4;  // name, next, lag, owner
  for (size_t i = 2; i + fields <= seen.array().size(); i += fields) {
    const std::string& next = seen[i + 1].text();
    views.push_back({.group = seen[i].text(),
                     .topic = topic,
                     .partition = partition,
                     .committed = next.empty() ? std::nullopt : std::optional(offset_of(next)),
                     .lag = std::max<int64_t>(0, seen[i + 2].integer()),
                     .member = seen[i + 3].text()});
  }
}

}  // namespace

Task<std::vector<TopicView>> RedisLogView::topics() {
  const std::vector<Topic> topics = co_await log_.catalogue().all();
  std::vector<TopicView> views;
  for (const Topic& topic : topics) {
    const std::vector<Reply> seen = co_await look_at_all(log_.redis(), topic);
    TopicView view{topic, {}};
    for (int32_t i = 0; i < topic.partitions; ++i) {
      view.partitions.push_back(bounds_of(i, seen[static_cast<size_t>(i)]));
    }
    views.push_back(std::move(view));
  }
  co_return views;
}

Task<std::vector<GroupView>> RedisLogView::groups() {
  const std::vector<Topic> topics = co_await log_.catalogue().all();
  std::vector<GroupView> views;
  for (const Topic& topic : topics) {
    const std::vector<Reply> seen = co_await look_at_all(log_.redis(), topic);
    for (int32_t i = 0; i < topic.partitions; ++i) add_groups(views, topic.name, i, seen[static_cast<size_t>(i)]);
  }
  std::ranges::sort(views, {}, [](const GroupView& view) { return std::tie(view.group, view.topic, view.partition); });
  co_return views;
}

Task<std::vector<Delivery>> RedisLogView::read(std::string topic, int32_t partition, int64_t from, size_t most) {
  const LogKeys keys({topic, partition});
  const auto assignment = std::make_shared<const messaging::Assignment>(topic, partition);
  Command command = Command(log_scripts::read, {keys.messages, keys.state, keys.groups})
                        .arg(stream_id(std::max<int64_t>(from, 0)))
                        .arg(most)
                        .arg(messaging::bytes_at_once)
                        .arg("")
                        .arg("")
                        .arg("")
                        .repeatable()
                        .within(log_bulk_time);
  Reply reply = co_await log_.redis().run(std::move(command));
  LogPage page = page_of(std::move(reply), assignment);
  co_return std::move(page.messages);
}

Task<> RedisLogView::trim(std::string topic, int32_t partition, int64_t before) {
  return trim_before(log_.redis(), {std::move(topic), partition}, before);
}

}  // namespace sluice::redis
