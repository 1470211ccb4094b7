#include "adapters/sqlite/log/log_groups.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace sluice::sqlite {

using messaging::Assignment;
using messaging::AssignmentRef;

// Guarded by the groups' mutex.
struct LogGroups::Member {
  const std::string id;  // among all of the process
  const messaging::SubscriptionConfig config;
  std::map<std::string, int32_t> topics{};
  bool joined = false;
  bool present = false;
  Instant seen{};
  // Not told yet.
  std::vector<AssignmentRef> lost{};

  bool silent(Instant now) const { return !present && now - seen > config.session; }
};

LogGroups::MemberRef LogGroups::make_member(messaging::SubscriptionConfig config) {
  const std::lock_guard lock(mutex_);
  return std::make_shared<Member>(std::to_string(++last_member_), std::move(config));
}

LogGroups::Standing LogGroups::appear(const MemberRef& member, const std::map<std::string, int32_t>& topics) {
  const std::lock_guard lock(mutex_);
  Group& group = groups_[member->config.group];
  member->seen = clock_.now();
  if (!member->joined || member->topics != topics) join(group, member, topics);
  end_what_is_over(group);
  settle(group);
  Standing standing;
  standing.lost = std::exchange(member->lost, {});
  for (auto& [partition, holding] : group.partitions) {
    if (holding.owner != member.get()) continue;
    if (holding.state == Holding::State::held) standing.held.push_back(holding.assignment);
    if (holding.state != Holding::State::asked_back) continue;
    standing.leaving.push_back(holding.assignment);
    holding.state = Holding::State::told;
    holding.until = clock_.now() + member->config.handover;
  }
  return standing;
}

void LogGroups::join(Group& group, const MemberRef& member, const std::map<std::string, int32_t>& topics) {
  member->topics = topics;
  if (!member->joined) group.members.push_back(member);
  member->joined = true;
  for (const auto& [topic, partitions] : topics) {
    for (int32_t i = 0; i < partitions; ++i) group.partitions.try_emplace({topic, i});
  }
  group.unsettled = true;
}

// Called by readers, which alone depend on it; each comes at least once a second.
void LogGroups::end_what_is_over(Group& group) {
  const Instant now = clock_.now();
  const std::vector<MemberRef> members = group.members;
  for (const MemberRef& member : members) {
    if (member->silent(now)) expel(group, member);
  }
  for (auto& [partition, holding] : group.partitions) {
    if (holding.owner == nullptr || holding.state != Holding::State::told || now < holding.until) continue;
    lose(holding);
    group.unsettled = true;
  }
}

void LogGroups::expel(Group& group, const MemberRef& member) {
  std::erase(group.members, member);
  member->joined = false;
  for (auto& [partition, holding] : group.partitions) {
    if (holding.owner == member.get()) lose(holding);
  }
  group.unsettled = true;
}

void LogGroups::lose(Holding& holding) {
  holding.owner->lost.push_back(std::move(holding.assignment));
  holding = {};
}

// Assigns free partitions, and asks back those that another member should have.
void LogGroups::settle(Group& group) {
  if (!std::exchange(group.unsettled, false)) return;
  std::map<std::string, Member*> members;
  std::vector<messaging::LogMember> readers;
  std::map<std::string, int32_t> topics;
  for (const MemberRef& member : group.members) {
    members[member->id] = member.get();
    topics.insert(member->topics.begin(), member->topics.end());
    const auto names = std::views::keys(member->topics);
    readers.push_back({member->id, {names.begin(), names.end()}});
  }
  const auto shares = messaging::shares_of(readers, topics);
  bool changed = false;
  for (auto& [partition, holding] : group.partitions) {
    const auto share = shares.find(partition);
    Member* const reader = share == shares.end() ? nullptr : members.at(share->second);
    if (holding.owner == nullptr && reader != nullptr) {
      holding.owner = reader;
      holding.assignment = std::make_shared<const Assignment>(partition.topic, partition.partition);
      changed = true;
    } else if (holding.state == Holding::State::held && holding.owner != reader) {
      holding.state = Holding::State::asked_back;
      changed = true;
    }
  }
  if (changed) bell_.ring();
}

LogGroups::Presence::Presence(LogGroups& groups, MemberRef member) : groups_(groups), member_(std::move(member)) {
  const std::lock_guard lock(groups_.mutex_);
  member_->present = true;
}

LogGroups::Presence::~Presence() {
  const std::lock_guard lock(groups_.mutex_);
  member_->present = false;
  member_->seen = groups_.clock_.now();
}

bool LogGroups::holds(const MemberRef& member, const AssignmentRef& assignment) const {
  const std::lock_guard lock(mutex_);
  const auto group = groups_.find(member->config.group);
  if (group == groups_.end()) return false;
  const auto found = group->second.partitions.find({assignment->topic, assignment->partition});
  return found != group->second.partitions.end() && found->second.owner == member.get() &&
         found->second.assignment == assignment;
}

void LogGroups::let_go(const MemberRef& member, const AssignmentRef& assignment) {
  const std::lock_guard lock(mutex_);
  Group& group = groups_[member->config.group];
  const auto found = group.partitions.find({assignment->topic, assignment->partition});
  if (found == group.partitions.end() || found->second.owner != member.get() ||
      found->second.assignment != assignment) {
    return;
  }
  found->second = {};
  group.unsettled = true;
  settle(group);
}

void LogGroups::leave(const MemberRef& member) {
  const std::lock_guard lock(mutex_);
  if (!member->joined) return;
  Group& group = groups_[member->config.group];
  expel(group, member);
  settle(group);
  if (group.members.empty()) groups_.erase(member->config.group);
}

std::vector<LogGroups::Held> LogGroups::held() const {
  const std::lock_guard lock(mutex_);
  std::vector<Held> all;
  for (const auto& [name, group] : groups_) {
    for (const auto& [partition, holding] : group.partitions) {
      std::string member = holding.owner == nullptr ? "" : fmt::format("{}-{}", name, holding.owner->id);
      all.push_back({name, partition, std::move(member)});
    }
  }
  return all;
}

}  // namespace sluice::sqlite
