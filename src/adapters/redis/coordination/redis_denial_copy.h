// Denied tokens in Redis: a sorted set of ids by their end, spread over sixteen hash tags.
//
// Beside each set is the replication history of the server under which it is complete (Script::with_history). A server
// that was restarted or wiped, or became master again, has another history or no mark at all; then missing entries may
// have been lost, and the answer is `unknown`. Entries that exist are valid in any case.
#pragma once

#include "adapters/redis/client/redis.h"
#include "coordination/denial_copy.h"

namespace sluice::redis {

class RedisDenialCopy : public coordination::DenialCopy {
 public:
  explicit RedisDenialCopy(Redis& redis) : redis_(redis) {}

  Task<coordination::Denied> ask(std::string token) override;
  Task<> add(std::vector<coordination::Denial> denials) override;
  Task<> begin_fill(uint64_t filler) override;
  Task<> end_fill(uint64_t filler) override;

 private:
  Redis& redis_;
};

}  // namespace sluice::redis
