// The producer to publish with, and those before it.
//
// librdkafka gives up on a producer for good when it can no longer keep its promises. Then a new one is created; the
// old one is destroyed when it has reported on everything and is unused.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "adapters/kafka/producer.h"

namespace sluice::kafka {

class Producers {
 public:
  // References must outlive it, `executor` is run by one thread. Makes the first.
  Producers(Instances& instances, Executor executor, Clock& clock, std::shared_ptr<Pending> pending);
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;

  // From any thread. Throws EngineUnavailable if a new one is needed and cannot be created.
  std::shared_ptr<Producer> current();

  // Drops those that are broken and done. On the executor, now and then.
  void drop_broken();
  // Call when no publish call runs: fails pending messages. On the executor.
  Task<> close();

 private:
  Instances& instances_;
  const Executor executor_;
  Clock& clock_;
  const std::shared_ptr<Pending> pending_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Producer>> producers_;  // guarded by mutex_; all but the last are broken
};

}  // namespace sluice::kafka
