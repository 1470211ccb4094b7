// The keys of the log in Redis, for the log's own files and for people with redis-cli.
//
//   sluice:log:topics                   hash: topic -> "PARTITIONS RETENTION", in microseconds
//   sluice:{log:TOPIC:P}:messages       stream: o (ordinal), k (key), p (payload), h (headers)
//   sluice:{log:TOPIC:P}:state          hash: life, last (id), count (ordinal of the last), bell (1: a reader waits)
//   sluice:{log:TOPIC:P}:groups         hash: for each group next:G (id), owner:G, token:G, until:G and session:G
//                                       (milliseconds)
//   sluice:{log:TOPIC:P}:generation:ID  of a publisher that does not know the outcome of a call (log_scripts::publish)
//   sluice:{log-group:G}:members        sorted set: "MEMBER TOPIC TOPIC..." by when it is dead (milliseconds)
//
// A cluster moves a partition as a whole: all its keys, including its leases, have one hash tag, so that one script can
// see all of them.
//
// An offset is a stream's id as a number: milliseconds times 2^20, plus the sequence. Ids come from the server's clock,
// so offsets grow even if Redis lost all of its data in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "messaging/log_shares.h"

namespace sluice::redis {

using messaging::LogMember;
using messaging::LogPartition;

inline constexpr const char* log_topics_key = "sluice:log:topics";

struct LogKeys {
  explicit LogKeys(const LogPartition& partition);

  std::string messages;
  std::string state;
  std::string groups;
  std::string generation_of(std::string_view publisher) const;

 private:
  std::string tag_;
};

std::string log_members_key(std::string_view group);

// "1767225600000-3"
std::string stream_id(int64_t offset);
// Throws EngineUnavailable if `id` is invalid.
int64_t offset_of(std::string_view id);
Time time_of(int64_t offset);

// The message on LogNews::channel when there is something to read, and when a group's members or leases change.
std::string log_news_of(const LogPartition& partition);  // "TOPIC:P"
std::string log_news_of_group(std::string_view group);   // "group GROUP"

}  // namespace sluice::redis
