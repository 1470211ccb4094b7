// Being a member of a group: signs of life, and which partitions are ours.
#pragma once

#include <set>
#include <string>

#include "adapters/redis/client/redis.h"
#include "adapters/redis/log/redis_log_catalogue.h"
#include "messaging/subscription.h"

namespace sluice::redis {

// Belongs to one executor.
class LogMembership {
 public:
  // References must outlive it.
  LogMembership(Redis& redis, LogCatalogue& catalogue, const messaging::SubscriptionConfig& config, std::string id);

  // A heartbeat; returns the partitions this member should have now. Undeclared topics have none.
  Task<std::set<LogPartition>> join();
  // So that the others need not wait for its silence.
  Task<> leave();

 private:
  Task<std::vector<LogMember>> members();

  Redis& redis_;
  LogCatalogue& catalogue_;
  const std::string group_;
  const Duration session_;
  const std::string id_;
  const std::string entry_;  // its entry in the set of members
  bool joined_ = false;
};

}  // namespace sluice::redis
