#include "adapters/sqlite/log/embedded_subscription.h"

#include <algorithm>
#include <set>

#include "adapters/sqlite/log/log_reading.h"

namespace sluice::sqlite {
namespace {

using messaging::AssignmentRef;
using messaging::Delivery;
using messaging::Fetched;
using messaging::Progress;

// Another process may publish without ringing the bell.
constexpr Duration poll_interval = 1s;
constexpr sql::Statement read_commits = "SELECT topic, partition, next FROM log_commits WHERE group_name = $1";
constexpr sql::Statement write_commits =
    "INSERT INTO log_commits AS kept (group_name, topic, partition, next, committed_at) "
    "SELECT $1, value ->> 0, value ->> 1, value ->> 2, now() FROM json_each($2) WHERE true "
    "ON CONFLICT (group_name, topic, partition) "
    "DO UPDATE SET next = excluded.next, committed_at = excluded.committed_at WHERE kept.next < excluded.next";

// Shows other processes that the group reads the topic; `next` 0 means that nothing is committed yet.
constexpr sql::Statement note_reading =
    "INSERT INTO log_commits (group_name, topic, partition, next, committed_at) "
    "SELECT $1, value ->> 0, value ->> 1, 0, now() FROM json_each($2) WHERE true ON CONFLICT DO NOTHING";

}  // namespace

EmbeddedSubscription::EmbeddedSubscription(EmbeddedLogParts parts, messaging::SubscriptionConfig config,
                                           const Executor& executor)
    : parts_(parts),
      config_(std::move(config)),
      bell_(parts.bell.listen(executor)),
      member_(parts.groups.make_member(config_)) {}

EmbeddedSubscription::~EmbeddedSubscription() {
  parts_.groups.leave(member_);
}

Task<Fetched> EmbeddedSubscription::fetch(size_t most, Deadline deadline) {
  const LogGroups::Presence presence(parts_.groups, member_);
  while (true) {
    const auto topics = co_await existing_topics();
    LogGroups::Standing standing = parts_.groups.appear(member_, topics);
    adopt(standing);
    Fetched fetched{.leaving = std::move(standing.leaving), .lost = std::move(standing.lost)};
    if (!fetched.empty()) co_return fetched;

    hand_out(most, fetched.deliveries);
    if (fetched.empty()) {
      co_await look_up_starts();
      co_await read_more();
      hand_out(most, fetched.deliveries);
    }
    if (!fetched.empty() || deadline.passed(parts_.clock)) co_return fetched;
    const Instant next_look = deadline.sooner(parts_.clock, poll_interval).at;
    co_await bell_.wait_until(parts_.clock, next_look);
  }
}

Task<std::map<std::string, int32_t>> EmbeddedSubscription::existing_topics() {
  const auto unknown = [this](const std::string& name) { return !parts_.topics.known(name); };
  if (std::ranges::any_of(config_.topics, unknown)) co_await parts_.topics.all();
  std::map<std::string, int32_t> existing;
  for (const std::string& name : config_.topics) {
    if (const auto place = parts_.topics.known(name)) existing[name] = place->partitions;
  }
  co_return existing;
}

void EmbeddedSubscription::adopt(const LogGroups::Standing& standing) {
  for (const AssignmentRef& ended : standing.leaving) readings_.erase(ended);
  for (const AssignmentRef& ended : standing.lost) readings_.erase(ended);
  for (const AssignmentRef& held : standing.held) {
    readings_.try_emplace(held, Reading{.topic = parts_.topics.known(held->topic).value().id});
  }
}

Task<> EmbeddedSubscription::look_up_starts() {
  const auto new_here = [](const auto& reading) { return !reading.second.start; };
  if (std::ranges::none_of(readings_, new_here)) co_return;
  sql::Params params(config_.group);
  const sql::Rows rows = co_await parts_.database.read(read_commits, std::move(params));
  std::vector<LogPlace> unknown;
  for (auto& [assignment, reading] : readings_) {
    if (reading.start) continue;
    for (const sql::Row& row : rows) {
      if (row.integer(0) == reading.topic && row.integer(1) == assignment->partition) reading.start = row.integer(2);
    }
    if (!reading.start) unknown.push_back({reading.topic, assignment->partition});
    reading.start = reading.start.value_or(0);
    reading.block = *reading.start / sql::offsets_per_block;
  }
  if (unknown.empty()) co_return;
  sql::Params noted(config_.group, to_json(unknown));
  co_await parts_.database.write(note_reading, std::move(noted));
}

Task<> EmbeddedSubscription::read_more() {
  std::set<int64_t> distinct;
  for (const auto& [assignment, reading] : readings_) {
    if (!reading.paused) distinct.insert(reading.topic);
  }
  if (distinct.empty()) co_return;
  const std::vector<int64_t> topics(distinct.begin(), distinct.end());
  const std::vector<int64_t> last = co_await last_blocks(parts_.database, topics);
  for (size_t i = 0; i < topics.size(); ++i) co_await read_topic(topics[i], last[i]);
}

Task<> EmbeddedSubscription::read_topic(int64_t topic, int64_t last_block) {
  std::map<int64_t, std::map<int32_t, Readings::iterator>> by_block;
  for (auto at = readings_.begin(); at != readings_.end(); ++at) {
    if (at->second.topic == topic && !at->second.paused) by_block[at->second.block][at->first->partition] = at;
  }
  for (auto at = by_block.begin(); at != by_block.end(); ++at) {
    // Up to where the next are: from there on they are read with those.
    const auto next = std::next(at);
    BlockRange range{.topic = topic, .from = at->first, .to = last_block};
    if (next != by_block.end()) range.to = std::min(range.to, next->first - 1);
    if (range.from > range.to) continue;
    for (const auto& [partition, reading] : at->second) range.partitions.push_back(partition);
    SomeBlocks some = co_await read_blocks(parts_.database, std::move(range));
    for (PartitionBlock& each : some.blocks) {
      auto& [assignment, reading] = *at->second.at(each.partition);
      std::ranges::move(open_block(std::move(each.block), assignment, *reading.start),
                        std::back_inserter(reading.ready));
    }
    for (const auto& [partition, reading] : at->second) reading->second.block = some.read_to + 1;
  }
}

// Everybody in turn, so that a partition with much does not starve the others.
void EmbeddedSubscription::hand_out(size_t most, std::vector<Delivery>& deliveries) {
  if (readings_.empty()) return;
  auto at = std::next(readings_.begin(), static_cast<std::ptrdiff_t>(turn_++ % readings_.size()));
  for (size_t i = 0; i < readings_.size(); ++i) {
    Reading& reading = at->second;
    while (!reading.paused && !reading.ready.empty() && deliveries.size() < most) {
      deliveries.push_back(std::move(reading.ready.front()));
      reading.ready.pop_front();
    }
    if (++at == readings_.end()) at = readings_.begin();
  }
}

Task<> EmbeddedSubscription::commit(std::vector<Progress> progress) {
  std::vector<LogPlace> places;
  for (const Progress& each : progress) {
    if (!parts_.groups.holds(member_, each.assignment)) continue;
    const LogTopics::Place topic = parts_.topics.known(each.assignment->topic).value();
    places.push_back({topic.id, each.assignment->partition, each.next});
  }
  if (places.empty()) co_return;
  sql::Params params(config_.group, to_json(places));
  co_await parts_.database.write(write_commits, std::move(params));
}

void EmbeddedSubscription::pause(const AssignmentRef& assignment) {
  const auto found = readings_.find(assignment);
  if (found != readings_.end()) found->second.paused = true;
}

void EmbeddedSubscription::resume(const AssignmentRef& assignment) {
  const auto found = readings_.find(assignment);
  if (found == readings_.end()) return;
  found->second.paused = false;
  bell_.wake();
}

Task<> EmbeddedSubscription::let_go(AssignmentRef assignment) {
  parts_.groups.let_go(member_, assignment);
  co_return;
}

Task<> EmbeddedSubscription::close() {
  parts_.groups.leave(member_);
  readings_.clear();
  co_return;
}

}  // namespace sluice::sqlite
