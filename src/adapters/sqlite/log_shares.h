// Which member of a group should read which partition.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sluice::sqlite {

using LogPartition = std::pair<std::string, int32_t>;  // topic, number
using LogMemberNumber = int64_t;

// The topics each member reads.
using LogReaders = std::map<LogMemberNumber, std::set<std::string>>;
using LogShares = std::map<LogPartition, LogMemberNumber>;

// A fair share for each: of the partitions of a topic, then of all partitions, nobody has two more than another who
// reads the same. `shares` says who has what; what nobody has (0, or a member that is gone) is given to somebody, and
// no more is moved than fairness asks for. What nobody reads stays with nobody.
LogShares fair_shares(const LogReaders& readers, LogShares shares);

}  // namespace sluice::sqlite
