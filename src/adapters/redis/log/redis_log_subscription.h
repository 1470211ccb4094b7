// A member of a group that reads the log in Redis.
//
// All it does happens inside `fetch`, so that a member that is stuck loses its partitions. Now and then (a third of its
// session, and at once when the group changes) it tends: it gives a sign of life, learns which partitions are its own,
// renews the leases it has, asks for those it lacks and announces those it has to give back. A partition's lease also
// tells how far its messages go, so a member that has nothing to do asks for nothing else.
#pragma once

#include <map>

#include "adapters/redis/log/redis_log.h"
#include "adapters/redis/log/redis_log_lease.h"
#include "adapters/redis/log/redis_log_membership.h"

namespace sluice::redis {

// Belongs to one executor. `log` must outlive it.
class RedisSubscription final : public messaging::Subscription {
 public:
  RedisSubscription(RedisLog& log, messaging::SubscriptionConfig config, Executor executor, const std::string& member);

  Task<messaging::Fetched> fetch(size_t most, Deadline deadline) override;
  Task<> commit(std::vector<messaging::Progress> progress) override;
  void pause(const messaging::AssignmentRef& assignment) override;
  void resume(const messaging::AssignmentRef& assignment) override;
  Task<> let_go(messaging::AssignmentRef assignment) override;
  Task<> close() override;

 private:
  // The messages of one partition, until fetch returns all of them at once.
  struct Read {
    LeasedPartitionRef owned;
    std::optional<LogPage> page{};
    bool answered = false;
  };

  void take_news();
  Task<> tend();
  void ask_back(const std::set<LogPartition>& wanted);
  Task<> tend_leases(std::set<LogPartition> wanted);
  Task<> renew(LeasedPartitionRef owned);
  Task<> acquire(LogPartition partition);
  Task<> give_up(LeasedPartitionRef owned);
  Task<> commit_one(LeasedPartitionRef owned, int64_t next);

  bool anything_readable() const;
  std::vector<Read> choose(size_t most);
  Task<std::vector<Read>> read(size_t most);
  Task<> read_one(Read& read, size_t most, size_t most_bytes);
  messaging::Fetched hand_over(std::vector<Read> reads);

  LeasedPartitionRef owned(const messaging::AssignmentRef& assignment) const;
  void end(LeasedPartitionRef owned);
  void lose(const LeasedPartitionRef& owned);
  void tend_by(Instant when) { tend_at_ = std::min(tend_at_, when); }
  void failed(const EngineUnavailable& error);
  Duration tend_every() const;

  RedisLog& log_;
  Clock& clock_;
  const messaging::SubscriptionConfig config_;
  LogMembership membership_;
  LogLeases leases_;
  std::shared_ptr<LogNews::Ear> ear_;
  std::map<LogPartition, LeasedPartitionRef> owned_;
  std::vector<messaging::AssignmentRef> leaving_;  // to be told with the next fetch
  std::vector<messaging::AssignmentRef> lost_;     // the same
  LogPartition last_read_;                         // so that all get their turn
  Instant tend_at_{};
  std::optional<EngineUnavailable> failure_;  // of this round of fetch
};

}  // namespace sluice::redis
