// Which member of a group reads which partitions.
//
// If members do not communicate, each computes the shares itself from the list of members; equal lists give equal
// results. The result is fair (for each topic, and over all topics together, members that read the same topics differ
// by at most one partition), and few partitions move when a member joins or leaves.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice::messaging {

struct LogPartition {
  std::string topic;
  int32_t partition = 0;

  auto operator<=>(const LogPartition&) const = default;
};

struct LogMember {
  std::string id;
  std::set<std::string> topics;
};

// The reader of each partition. `topics` has the number of partitions; partitions without a reader are left out.
std::map<LogPartition, std::string> shares_of(const std::vector<LogMember>& members,
                                              const std::map<std::string, int32_t>& topics);

}  // namespace sluice::messaging
