// Committing how far a consumer is: one request at a time, for everything that was asked for meanwhile.
//
// The group may be rebalancing, or its coordinator moving: then the brokers refuse a commit that they would accept a
// moment later. So progress of partitions still owned is tried again until the caller's deadline.
//
// A commit may also come too late: the group has moved to another generation, or without this member. Then nothing can
// be committed before the member has joined again, and the partitions it gives back for that are lost.
#pragma once

#include "adapters/kafka/joining.h"
#include "adapters/kafka/owned_partitions.h"
#include "runtime/wakeup.h"

namespace sluice::kafka {

// Belongs to one executor.
class Commits {
 public:
  // References must outlive it.
  Commits(Instance instance, const Joining& joining, QueueSignal& signal, OwnedPartitions& owned, Clock& clock,
          const Executor& executor);
  ~Commits();
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;

  // Durable when it returns, or no longer owned, or not ahead of the committed offset. Throws EngineUnavailable at
  // `deadline`.
  Task<> commit(std::vector<messaging::Progress> progress, Instant deadline);

  // Reads answers. On the signal.
  void look();
  // Ownership has changed.
  void wake() { changed_.notify_all(); }

  // The last commit came too late, and nothing was assigned since.
  bool too_late() const { return too_late_; }
  void on_assigned();

 private:
  bool settled(const messaging::Progress& progress) const;
  void send_or_wait();
  void send();
  void on_answer(rd_kafka_event_t* event);

  const Instance instance_;
  const Joining& joining_;
  OwnedPartitions& owned_;
  Clock& clock_;
  const Queue answers_;
  Wakeup changed_;
  std::vector<messaging::Progress> sent_;  // under way
  Instant not_before_{};                   // after a failure
  bool too_late_ = false;
  std::string problem_ = "timed out";
};

}  // namespace sluice::kafka
