#include "adapters/sqlite/log_shares.h"

#include <tuple>

namespace sluice::sqlite {
namespace {

class Scales {
 public:
  explicit Scales(const LogReaders& readers) : readers_(readers) {}

  bool reads(LogMemberNumber member, const std::string& topic) const {
    const auto found = readers_.find(member);
    return found != readers_.end() && found->second.contains(topic);
  }
  void add(LogMemberNumber member, const std::string& topic, int partitions) {
    of_topic_[{member, topic}] += partitions;
    of_all_[member] += partitions;
  }
  // Who of those who read the topic has least; 0: nobody reads it.
  LogMemberNumber lightest(const std::string& topic) {
    LogMemberNumber lightest = 0;
    for (const auto& [member, topics] : readers_) {
      if (!topics.contains(topic)) continue;
      if (lightest == 0 || load(member, topic) < load(lightest, topic)) lightest = member;
    }
    return lightest;
  }
  // Whether a partition of the topic should go from one to the other. Each such step makes the loads more even, so
  // that there is a last one.
  bool should_move(LogMemberNumber from, LogMemberNumber to, const std::string& topic) {
    const auto [from_topic, from_all] = load(from, topic);
    const auto [to_topic, to_all] = load(to, topic);
    return from_topic > to_topic + 1 || (from_topic == to_topic + 1 && from_all > to_all + 1);
  }

 private:
  std::tuple<int, int> load(LogMemberNumber member, const std::string& topic) {
    return {of_topic_[{member, topic}], of_all_[member]};
  }

  const LogReaders& readers_;
  std::map<std::pair<LogMemberNumber, std::string>, int> of_topic_;
  std::map<LogMemberNumber, int> of_all_;
};

}  // namespace

LogShares fair_shares(const LogReaders& readers, LogShares shares) {
  Scales scales(readers);
  for (auto& [partition, member] : shares) {
    if (!scales.reads(member, partition.first)) member = 0;
    if (member != 0) scales.add(member, partition.first, 1);
  }
  const auto give = [&scales](const std::string& topic, LogMemberNumber& member, LogMemberNumber to) {
    if (member != 0) scales.add(member, topic, -1);
    member = to;
    if (member != 0) scales.add(member, topic, 1);
  };
  for (auto& [partition, member] : shares) {
    if (member == 0) give(partition.first, member, scales.lightest(partition.first));
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& [partition, member] : shares) {
      const LogMemberNumber lightest = member == 0 ? 0 : scales.lightest(partition.first);
      if (lightest == 0 || !scales.should_move(member, lightest, partition.first)) continue;
      give(partition.first, member, lightest);
      moved = true;
    }
  }
  return shares;
}

}  // namespace sluice::sqlite
