// Coalescing in Redis, for any number of instances: one hash per item, each call one script.
//
// Versions follow the clock of the server that issues them and the floor of its run. A run is a replication history
// (INFO's master_replid), which begins with a start and with every promotion; the script itself looks which one it is
// executed in, so that no failover between asking and issuing can go unnoticed. A run this instance does not know is
// looked up in the database once; until then nothing is issued.
//
// The Redis user needs INFO, TIME, HMGET, HSET and PEXPIRE. Safe to share between threads.
#pragma once

#include <mutex>
#include <vector>

#include "adapters/redis/client/redis.h"
#include "coordination/coalescing.h"

namespace sluice::redis {

class RedisCoalescing : public coordination::Coalescing {
 public:
  // `name` keeps the items of one plan apart from others'. References must outlive it.
  RedisCoalescing(Redis& redis, coordination::VersionFloors& floors, coordination::CoalescingPlan plan,
                  std::string name);

  Task<coordination::RefreshAnswer> request(coordination::RefreshRequest request) override;
  Task<bool> unpublish(std::string item, coordination::RefreshAnswer answer) override;
  Task<coordination::FetchAnswer> look(coordination::FetchRequest request) override;
  Task<coordination::FetchAnswer> begin(coordination::FetchRequest request) override;
  Task<> finish(std::string item, std::string owner, coordination::Version covers) override;
  Task<> abandon(std::string item, std::string owner, std::optional<coordination::Version> given_up) override;

 private:
  // A server this instance got versions from, while it was master.
  struct Run {
    std::string history;
    coordination::RunFloor floor;
    coordination::Version seen = 0;  // the highest it issued for us
  };

  Command command(std::string_view operation, const std::string& item) const;
  Command request_command(const coordination::RefreshRequest& request);
  Task<coordination::FetchAnswer> fetch(coordination::FetchRequest request, Duration lease);
  Task<> learn(std::string history);
  void note_seen(const std::string& history, coordination::Version version);

  Redis& redis_;
  coordination::VersionFloors& floors_;
  coordination::CoalescingPlan plan_;
  std::string name_;
  std::mutex mutex_;
  std::vector<Run> runs_;  // the one learned last comes last
};

}  // namespace sluice::redis
