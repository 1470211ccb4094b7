#include "adapters/redis/log/redis_log_membership.h"

#include "adapters/redis/log/redis_log_keys.h"
#include "adapters/redis/log/redis_log_news.h"
#include "adapters/redis/log/redis_log_scripts.h"

namespace sluice::redis {
namespace {

// "MEMBER TOPIC TOPIC..."
std::string entry_of(const std::string& id, const std::set<std::string>& topics) {
  std::string entry = id;
  for (const std::string& topic : topics) entry += " " + topic;
  return entry;
}

LogMember member_of(const std::string& entry) {
  LogMember member;
  size_t begin = entry.find(' ');
  member.id = entry.substr(0, begin);
  while (begin != std::string::npos) {
    const size_t end = entry.find(' ', begin + 1);
    member.topics.insert(entry.substr(begin + 1, end == std::string::npos ? end : end - begin - 1));
    begin = end;
  }
  return member;
}

}  // namespace

LogMembership::LogMembership(Redis& redis, LogCatalogue& catalogue, const messaging::SubscriptionConfig& config,
                             std::string id)
    : redis_(redis),
      catalogue_(catalogue),
      group_(config.group),
      session_(config.session),
      id_(std::move(id)),
      entry_(entry_of(id_, {config.topics.begin(), config.topics.end()})) {}

Task<std::set<LogPartition>> LogMembership::join() {
  const std::vector<LogMember> everybody = co_await members();
  std::set<std::string> names;
  for (const LogMember& member : everybody) names.insert(member.topics.begin(), member.topics.end());
  std::map<std::string, int32_t> topics;
  for (const std::string& name : names) {
    const std::optional<messaging::Topic> topic = co_await catalogue_.find(name);
    if (topic) topics[name] = topic->partitions;
  }
  std::set<LogPartition> ours;
  for (const auto& [partition, member] : shares_of(everybody, topics)) {
    if (member == id_) ours.insert(partition);
  }
  co_return ours;
}

Task<std::vector<LogMember>> LogMembership::members() {
  const auto session = std::chrono::ceil<std::chrono::milliseconds>(session_);
  Command command = Command(log_scripts::join, {log_members_key(group_)})
                        .arg(entry_)
                        .arg(session.count())
                        .arg(LogNews::channel)
                        .arg(log_news_of_group(group_))
                        .repeatable();
  const Reply reply = co_await redis_.run(std::move(command));
  const bool added = reply[0].integer() == 1;
  // Missing where it should have been: Redis may have forgotten everything.
  if (added && joined_) co_await catalogue_.restore();
  joined_ = true;
  std::vector<LogMember> members;
  for (size_t i = 1; i < reply.array().size(); ++i) members.push_back(member_of(reply[i].text()));
  co_return members;
}

Task<> LogMembership::leave() {
  Command command = Command(log_scripts::leave, {log_members_key(group_)})
                        .arg(entry_)
                        .arg(LogNews::channel)
                        .arg(log_news_of_group(group_))
                        .repeatable();
  co_await redis_.run(std::move(command));
  joined_ = false;
}

}  // namespace sluice::redis
