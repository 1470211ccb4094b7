// A member of a Kafka consumer group.
//
// Rebalancing is cooperative: only what moves is asked back, and a revocation is answered when the last partition of it
// was let go, or its time is over. Then what is left of it counts as lost.
#pragma once

#include "adapters/kafka/commits.h"
#include "adapters/kafka/instances.h"

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
  // What was asked back and not answered yet.
  struct Revocation {
    Partitions partitions;
    Instant end;
  };

  void subscribe();
  void look();
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
  Instance instance_;
  Queue events_;
  Queue last_events_;
  OwnedPartitions owned_;
  Commits commits_;
  Wakeup changed_;

  std::optional<Revocation> revocation_;
  std::vector<messaging::AssignmentRef> leaving_;  // not told yet
  std::vector<messaging::AssignmentRef> lost_;     // not told yet
  std::string problem_;                            // not told yet
  bool closing_ = false;
};

}  // namespace sluice::kafka
