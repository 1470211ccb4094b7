#include "adapters/sqlite/embedded_log_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "adapters/sqlite/log_retention.h"

namespace sluice::sqlite {
namespace {

using messaging::Delivery;
using messaging::GroupView;
using messaging::TopicView;
using sql::Params;
using sql::Rows;
using sql::Statement;

constexpr size_t blocks_per_read = 16;

constexpr Statement read_bounds =
    "SELECT (SELECT id * 1024 + first FROM log_blocks WHERE topic = place.value ->> 0 AND partition = place.value ->> "
    "1 "
    "        ORDER BY id LIMIT 1), "
    "  (SELECT id * 1024 + first + count FROM log_blocks WHERE topic = place.value ->> 0 "
    "   AND partition = place.value ->> 1 ORDER BY id DESC LIMIT 1) "
    "FROM json_each($1) AS place ORDER BY place.key";
// An empty partition begins and ends where the next block will be.
constexpr Statement read_next_block = "SELECT seq + 1 FROM sqlite_sequence WHERE name = 'log_blocks'";

constexpr Statement read_commits =
    "SELECT group_name, name, partition, next FROM log_commits JOIN log_topics ON log_topics.id = log_commits.topic";
// In the block that the place lies in, only what is behind it.
constexpr Statement read_lags =
    "SELECT (SELECT coalesce(sum(min(count, max(0, first + count - max(0, (place.value ->> 2) - id * 1024)))), 0) "
    "        FROM log_blocks WHERE topic = place.value ->> 0 AND partition = place.value ->> 1 "
    "        AND id >= (place.value ->> 2) / 1024) "
    "FROM json_each($1) AS place ORDER BY place.key";

}  // namespace

Task<std::vector<TopicView>> EmbeddedLogView::topics() {
  const std::vector<LogTopic> topics = co_await log_.topics().all();
  std::vector<LogPlace> places;
  for (const LogTopic& each : topics) {
    for (int32_t i = 0; i < each.topic.partitions; ++i) places.push_back({each.id, i, 0});
  }
  const Rows next_block = co_await database_.read(read_next_block);
  const int64_t end = next_block.empty() ? 0 : next_block.one().integer(0) * sql::offsets_per_block;
  Params params(to_json(places));
  const Rows bounds = co_await database_.read(read_bounds, std::move(params));
  std::vector<TopicView> views;
  size_t row = 0;
  for (const LogTopic& each : topics) {
    TopicView view{each.topic, {}};
    for (int32_t i = 0; i < each.topic.partitions; ++i, ++row) {
      view.partitions.push_back(
          {i, bounds[row].optional_integer(0).value_or(end), bounds[row].optional_integer(1).value_or(end)});
    }
    views.push_back(std::move(view));
  }
  co_return views;
}

Task<std::vector<GroupView>> EmbeddedLogView::groups() {
  const std::vector<LogTopic> topics = co_await log_.topics().all();
  const Rows commits = co_await database_.read(read_commits);
  std::map<std::tuple<std::string, std::string, int32_t>, GroupView> views;
  const auto view_of = [&views](const std::string& group, const std::string& topic, int32_t partition) -> GroupView& {
    return views
        .try_emplace({group, topic, partition}, GroupView{.group = group, .topic = topic, .partition = partition})
        .first->second;
  };
  for (const LogGroups::Held& held : log_.groups().held()) {
    view_of(held.group, held.partition.first, held.partition.second).member = held.member;
  }
  for (const sql::Row& row : commits) {
    // Who has committed in one partition of a topic reads them all.
    const auto topic = std::ranges::find(topics, row.text(1), [](const LogTopic& each) { return each.topic.name; });
    for (int32_t i = 0; topic != topics.end() && i < topic->topic.partitions; ++i) view_of(row.text(0), row.text(1), i);
    view_of(row.text(0), row.text(1), static_cast<int32_t>(row.integer(2))).committed = row.integer(3);
  }
  std::vector<GroupView> all;
  for (auto& [key, view] : views) all.push_back(std::move(view));
  co_await measure_lags(all);
  co_return all;
}

Task<> EmbeddedLogView::measure_lags(std::vector<GroupView>& groups) {
  std::vector<LogPlace> places;
  for (const GroupView& each : groups) {
    places.push_back({log_.topics().known(each.topic).value().id, each.partition, each.committed.value_or(0)});
  }
  Params params(to_json(places));
  const Rows lags = co_await database_.read(read_lags, std::move(params));
  for (size_t i = 0; i < groups.size(); ++i) groups[i].lag = lags[i].integer(0);
}

Task<std::optional<LogTopics::Place>> EmbeddedLogView::find(std::string topic, int32_t partition) {
  auto found = log_.topics().known(topic);
  if (!found) {
    co_await log_.topics().all();
    found = log_.topics().known(topic);
  }
  if (found && (partition < 0 || partition >= found->partitions)) found.reset();
  co_return found;
}

Task<std::vector<Delivery>> EmbeddedLogView::read(std::string topic, int32_t partition, int64_t from, size_t most) {
  std::vector<Delivery> deliveries;
  const auto found = co_await find(topic, partition);
  if (!found) co_return deliveries;
  const auto assignment = std::make_shared<const messaging::Assignment>(topic, partition);
  LogPlace place{found->id, partition, from};
  while (deliveries.size() < most) {
    std::vector<sql::LogBlock> blocks = co_await read_blocks(database_, place, blocks_per_read);
    if (blocks.empty()) break;
    const int64_t end = (blocks.back().id + 1) * sql::offsets_per_block;
    for (sql::LogBlock& block : blocks) {
      std::ranges::move(sql::open_block(std::move(block), assignment, place.from), std::back_inserter(deliveries));
    }
    place.from = end;
  }
  if (deliveries.size() > most) deliveries.resize(most);
  co_return deliveries;
}

Task<> EmbeddedLogView::trim(std::string topic, int32_t partition, int64_t before) {
  const auto found = co_await find(topic, partition);
  if (found) co_await trim_partition(database_, found->id, partition, before);
}

}  // namespace sluice::sqlite
