// Reads topics as a member of a group and runs a handler for each message.
//
// Guarantees: every message of the topics is handled at least once by the group. Messages of one key are handled in
// order, one after the other; those of different keys concurrently. A message whose handler fails is tried again, and
// only its key waits; after `tries` it is put into the dead-letter topic, which counts as finished. While an engine
// that the handler needs is unavailable (EngineUnavailable) the consumer pauses, keeps its messages and tries again.
// Progress is committed periodically, up to the first unfinished message of a partition: messages handled since are
// handled again after a crash, so the inbox (adapters/sql/messaging/inbox.h) makes effects happen once, in their own
// transaction.
#pragma once

#include "messaging/handlers.h"
#include "messaging/held_partitions.h"

namespace sluice::messaging {

// Belongs to one executor.
class Consumer {
 public:
  Consumer(ConsumerParts parts, ConsumerConfig config, ConsumerRole role, Handler handler, Executor executor);
  // It must have been stopped, or never started.
  ~Consumer();

  void start();

  // Finishes messages in work, as long as `drain` allows and engines answer, commits and leaves the group.
  Task<> stop();

  // Delivered and not finished.
  size_t in_work() const { return handlers_.in_work(); }

 private:
  Task<> fetch_round();
  void take(Fetched fetched);
  Task<> commit_round();
  Task<> commit();
  Task<> let_go(std::vector<HeldRef> leaving);
  void on_finished(HeldPartition& held);
  Task<> leave();

  ConsumerParts parts_;
  const ConsumerConfig config_;
  const ConsumerRole role_;
  Executor executor_;
  std::unique_ptr<Subscription> subscription_;
  HeldPartitions held_;
  Handlers handlers_;
  std::unique_ptr<TaskScope> fetching_;
  TaskScope committing_;
  Wakeup commit_now_;
  bool stopping_ = false;
};

}  // namespace sluice::messaging
