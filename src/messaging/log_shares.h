// Which member of a group reads which partitions.
//
// Where members do not meet, each computes it for itself from who is there; from the same members all get the same
// answer. It is fair (of each topic, and of all topics together, nobody has more than one partition more than another
// who reads the same topics), and little moves when somebody comes or goes.
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

// Who reads what. `topics` says how many partitions each has; what nobody reads is left out.
std::map<LogPartition, std::string> shares_of(const std::vector<LogMember>& members,
                                              const std::map<std::string, int32_t>& topics);

}  // namespace sluice::messaging
