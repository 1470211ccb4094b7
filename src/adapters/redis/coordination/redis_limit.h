// A limit on Redis or a Redis Cluster: one script, one round trip, one hash tag.
//
// Each window is one string, a header and the ring's stamps; a draw reads and writes a few bytes of it, so that its
// cost does not depend on the window's size. State written under another replication history (before a restart or a
// promotion) counts as spent: the script compares the history in the state with its server's. A master cut off from its
// cluster stops after the cluster's node timeout, while its successor begins with spent windows no sooner than that: so
// the promise holds over a failover, too.
#pragma once

#include <string>
#include <vector>

#include "coordination/shared_limit.h"
#include "runtime/clock.h"

namespace sluice::redis {

class Redis;

// Safe to share between threads. Redis and clock must outlive it.
class RedisLimit : public coordination::SharedLimit {
 public:
  RedisLimit(Redis& redis, coordination::LimitPlan plan, Clock& clock);

  const coordination::LimitPlan& plan() const override { return plan_; }
  Task<coordination::Drawn> draw(size_t priority, int64_t least, int64_t most) override;
  Task<> deposit(size_t priority, int64_t permits, Duration lasts) override;
  Task<std::vector<int64_t>> remaining() override;

 private:
  // Arguments of a draw besides its numbers, made once.
  struct Account {
    std::vector<std::string> keys;
    std::vector<std::string> rings;  // of each: how many stamps, permits a stamp stands for, span
    size_t betters = 0;              // priorities whose marks are among the keys
    bool keeps_back = false;         // its own mark is the last key
    int64_t most_at_once = 0;
  };

  std::string window_key(size_t window) const;
  std::string credit_key(size_t priority) const;
  // Stands while the priority is wanted.
  std::string mark_key(size_t priority) const;
  std::vector<std::string> ring_arguments(size_t window) const;

  Redis& redis_;
  const coordination::LimitPlan plan_;
  Clock& clock_;
  std::vector<Account> accounts_;  // one for each priority
  Account all_;                    // every window of the plan
};

}  // namespace sluice::redis
