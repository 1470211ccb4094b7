// A member of a Kafka consumer group.
//
// Rebalancing is cooperative: only partitions that move are revoked, and a revocation is answered when the last
// partition of it was released, or its time is over, or nothing of it could be committed any more. Then its remaining
// partitions count as lost.
//
// librdkafka keeps a member alive from a thread of its own. So a member that has not fetched for its session leaves the
// group by itself, and joins it again with its next fetch.
#pragma once

#include "adapters/kafka/commits.h"
#include "adapters/kafka/instances.h"
#include "adapters/kafka/reachable.h"

namespace sluice::kafka {

class KafkaSubscription final : public messaging::Subscription {
 public:
  // References must outlive it. On the executor, which one thread runs; so is everything else.
  KafkaSubscription(Instances& instances, messaging::SubscriptionConfig config, Executor executor, Clock& clock);
  // Without `close` the group misses the member only after its session.
  ~KafkaSubscription() override;

  Task<messaging::Fetched> fetch(size_t most, Deadline deadline) override;
  Task<> commit(std::vector<messaging::Progress> progress) override;
  void pause(const messaging::AssignmentRef& assignment) override;
  void resume(const messaging::AssignmentRef& assignment) override;
  Task<> let_go(messaging::AssignmentRef assignment) override;
  Task<> close() override;

 private:
  class Fetching;
  // Revoked partitions whose revocation is not answered yet.
  struct Revocation {
    Partitions partitions;
    Instant end;
  };

  void join();
  void watch_silence(Duration after);
  void fall_silent();
  void look();
  Task<> wait_until_joined();
  void look_at_events();
  void on_rebalance(rd_kafka_event_t* event);
  void on_assigned(rd_kafka_event_t* event);
  void on_revoked(rd_kafka_event_t* event);
  void on_error(rd_kafka_event_t* event);
  void end_revocation_in_time();
  // Tells librdkafka that they are given back; those that were not let go are lost.
  void answer_revocation();
  messaging::Fetched take(size_t most);
  Instant next_look() const;

  Instances& instances_;
  const messaging::SubscriptionConfig config_;
  Clock& clock_;
  QueueSignal signal_;
  const std::shared_ptr<Joining> joining_ = std::make_shared<Joining>();
  Instance instance_;
  Queue events_;
  Queue last_events_;
  OwnedPartitions owned_;
  Commits commits_;
  Wakeup changed_;
  // No task that sleeps by the clock: its scope would have to be waited for, and this may end without `close`.
  asio::steady_timer silence_;

  std::optional<Revocation> revocation_;
  std::vector<messaging::AssignmentRef> leaving_;  // not told yet
  std::vector<messaging::AssignmentRef> lost_;     // not told yet
  std::string problem_;                            // not told yet
  Instant last_fetch_;
  bool fetching_ = false;
  bool silent_ = false;
  Reachable reachable_{"consumer"};
  bool joined_ = false;  // an assignment has come
  bool closing_ = false;
  // A wait of the timer that has ended may be answered after this is gone.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace sluice::kafka
