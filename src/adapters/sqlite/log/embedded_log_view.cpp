#include "adapters/sqlite/log/embedded_log_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "adapters/sqlite/log/log_retention.h"

namespace sluice::sqlite {
namespace {

using messaging::Delivery;
using messaging::GroupView;
using messaging::PartitionBounds;
using messaging::TopicView;
using sql::Params;
using sql::Rows;
using sql::Statement;

constexpr Statement read_commits =
    "SELECT group_name, name, partition, next FROM log_commits JOIN log_topics ON log_topics.id = log_commits.topic";
// For the partitions in $2, each with the offset to measure from; in the block of that offset only later messages
// count.
constexpr Statement read_lags =
    "WITH places (partition, next) AS MATERIALIZED (SELECT value ->> 1, value ->> 2 FROM json_each($2)) "
    "SELECT partition, sum(min(count, max(0, first + count - max(0, next - id * 1024)))) "
    "FROM log_blocks CROSS JOIN places USING (partition) "
    "WHERE topic = $1 AND id >= (SELECT min(next) / 1024 FROM places) AND id >= next / 1024 GROUP BY partition";

}  // namespace

Task<std::vector<TopicView>> EmbeddedLogView::topics() {
  const std::vector<LogTopic> topics = co_await log_.topics().all();
  std::vector<TopicView> views;
  for (const LogTopic& each : topics) {
    std::vector<PartitionBounds> bounds = co_await bounds_.of(each.id, each.topic.partitions);
    views.push_back({each.topic, std::move(bounds)});
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
    view_of(held.group, held.partition.topic, held.partition.partition).member = held.member;
  }
  for (const sql::Row& row : commits) {
    // A group that has committed in one partition of a topic reads all of them.
    const auto topic = std::ranges::find(topics, row.text(1), [](const LogTopic& each) { return each.topic.name; });
    for (int32_t i = 0; topic != topics.end() && i < topic->topic.partitions; ++i) view_of(row.text(0), row.text(1), i);
    GroupView& view = view_of(row.text(0), row.text(1), static_cast<int32_t>(row.integer(2)));
    if (row.integer(3) > 0) view.committed = row.integer(3);
  }
  std::vector<GroupView> all;
  for (auto& [key, view] : views) all.push_back(std::move(view));
  co_await measure_lags(all);
  co_return all;
}

// `groups` are in order: those of one group and topic are adjacent, by partition. Only partitions with messages behind
// the group are queried: one without a commit mostly has no messages.
Task<> EmbeddedLogView::measure_lags(std::vector<GroupView>& groups) {
  for (size_t begin = 0; begin < groups.size();) {
    const LogTopics::Place topic = log_.topics().known(groups[begin].topic).value();
    const std::vector<PartitionBounds> bounds = co_await bounds_.of(topic.id, topic.partitions);
    std::vector<LogPlace> behind;
    size_t end = begin;
    for (; end < groups.size() && groups[end].group == groups[begin].group && groups[end].topic == groups[begin].topic;
         ++end) {
      const PartitionBounds& whole = bounds.at(static_cast<size_t>(groups[end].partition));
      const int64_t from = std::max(groups[end].committed.value_or(0), whole.first);
      if (from < whole.end) behind.push_back({topic.id, groups[end].partition, from});
    }
    if (!behind.empty()) {
      Params params(topic.id, to_json(behind));
      const Rows lags = co_await database_.read(read_lags, std::move(params));
      for (const sql::Row& row : lags) groups.at(begin + static_cast<size_t>(row.integer(0))).lag = row.integer(1);
    }
    begin = end;
  }
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
  const std::vector<int64_t> topics{found->id};
  const std::vector<int64_t> last = co_await last_blocks(database_, topics);
  int64_t block = from / sql::offsets_per_block;
  size_t bytes = 0;
  while (deliveries.size() < most && bytes < messaging::bytes_at_once && block <= last[0]) {
    BlockRange range{.topic = found->id, .partitions = {partition}, .from = block, .to = last[0]};
    SomeBlocks some = co_await read_blocks(database_, std::move(range));
    for (PartitionBlock& each : some.blocks) {
      bytes += each.block.records.size();
      std::ranges::move(open_block(std::move(each.block), assignment, from), std::back_inserter(deliveries));
    }
    block = some.read_to + 1;
  }
  if (deliveries.size() > most) deliveries.resize(most);
  co_return deliveries;
}

Task<> EmbeddedLogView::trim(std::string topic, int32_t partition, int64_t before) {
  const auto found = co_await find(topic, partition);
  if (found) co_await trim_partition(database_, found->id, partition, before);
}

}  // namespace sluice::sqlite
