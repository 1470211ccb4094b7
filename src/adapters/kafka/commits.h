// Committing how far a consumer is: one request at a time, for everything that was asked for meanwhile.
//
// The group may be changing just now, or its coordinator moving: then the brokers refuse a commit that they would take
// a moment later. So what is still owned is tried again until whoever waits has no more time.
#pragma once

#include "adapters/kafka/owned_partitions.h"
#include "runtime/wakeup.h"

namespace sluice::kafka {

// Belongs to one executor.
class Commits {
 public:
  Commits(Instance instance, QueueSignal& signal, OwnedPartitions& owned, Clock& clock, const Executor& executor);
  ~Commits();
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;

  // Durable when it returns, or not owned any more, or not ahead of what is. Throws EngineUnavailable at `deadline`.
  Task<> commit(std::vector<messaging::Progress> progress, Instant deadline);

  // Reads answers. On the signal.
  void look();
  // Ownership has changed.
  void wake() { changed_.notify_all(); }

 private:
  bool settled(const messaging::Progress& progress) const;
  void send();
  void on_answer(rd_kafka_event_t* event);

  const Instance instance_;
  OwnedPartitions& owned_;
  Clock& clock_;
  const Queue answers_;
  Wakeup changed_;
  std::vector<messaging::Progress> sent_;  // under way
  Instant not_before_{};                   // after a failure
  std::string problem_ = "no answer in time";
};

}  // namespace sluice::kafka
