#include "adapters/sqlite/embedded_subscription.h"

#include <algorithm>

#include "adapters/sqlite/log_reading.h"

namespace sluice::sqlite {
namespace {

using messaging::AssignmentRef;
using messaging::Delivery;
using messaging::Fetched;
using messaging::Progress;

// Another process may publish without ringing the bell.
constexpr Duration poll_interval = 1s;
// Of one partition at a time, so that a read is bounded: a block has 256 KiB, or one message.
constexpr size_t blocks_per_read = 16;

constexpr sql::Statement read_commits = "SELECT topic, partition, next FROM log_commits WHERE group_name = $1";
constexpr sql::Statement write_commits =
    "INSERT INTO log_commits AS kept (group_name, topic, partition, next, committed_at) "
    "SELECT $1, value ->> 0, value ->> 1, value ->> 2, now() FROM json_each($2) WHERE true "
    "ON CONFLICT (group_name, topic, partition) "
    "DO UPDATE SET next = excluded.next, committed_at = excluded.committed_at WHERE kept.next < excluded.next";

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
  const auto new_here = [](const auto& reading) { return !reading.second.next; };
  if (std::ranges::none_of(readings_, new_here)) co_return;
  sql::Params params(config_.group);
  const sql::Rows rows = co_await parts_.database.read(read_commits, std::move(params));
  for (auto& [assignment, reading] : readings_) {
    if (reading.next) continue;
    reading.next = 0;
    for (const sql::Row& row : rows) {
      if (row.integer(0) == reading.topic && row.integer(1) == assignment->partition) reading.next = row.integer(2);
    }
  }
}

Task<> EmbeddedSubscription::read_more() {
  std::vector<LogPlace> places;
  std::vector<AssignmentRef> assignments;
  for (const auto& [assignment, reading] : readings_) {
    if (reading.paused || !reading.next) continue;
    places.push_back({reading.topic, assignment->partition, *reading.next});
    assignments.push_back(assignment);
  }
  if (places.empty()) co_return;
  const std::vector<size_t> with_more = co_await places_with_more(parts_.database, std::move(places));
  for (const size_t i : with_more) co_await read_blocks_of(assignments[i]);
}

Task<> EmbeddedSubscription::read_blocks_of(AssignmentRef assignment) {
  Reading& reading = readings_.at(assignment);
  const LogPlace place{reading.topic, assignment->partition, *reading.next};
  std::vector<sql::LogBlock> blocks = co_await read_blocks(parts_.database, place, blocks_per_read);
  for (sql::LogBlock& block : blocks) {
    const int64_t end = (block.id + 1) * sql::offsets_per_block;
    std::ranges::move(sql::open_block(std::move(block), assignment, place.from), std::back_inserter(reading.ready));
    reading.next = end;
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
  if (found != readings_.end()) found->second.paused = false;
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
