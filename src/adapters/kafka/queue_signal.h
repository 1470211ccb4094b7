// Where librdkafka's queues meet an executor: an eventfd that they write when they have something.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "adapters/kafka/handles.h"
#include "runtime/task.h"

namespace sluice::kafka {

// Belongs to one executor.
class QueueSignal {
 public:
  // Calls `look` on the executor when a queue that was empty, or not polled since, got something. It must poll every
  // queue that is of interest until it is empty: there is one signal for all that came meanwhile.
  QueueSignal(const Executor& executor, std::function<void()> look);
  QueueSignal(const QueueSignal&) = delete;
  QueueSignal& operator=(const QueueSignal&) = delete;

  // Until `unwatch`, which comes before the queue or this is destroyed.
  void watch(const Queue& queue);
  static void unwatch(const Queue& queue);

  // Looks once more, after others on the executor had their turn.
  void again();

 private:
  void wait();

  std::function<void()> look_;
  asio::posix::stream_descriptor descriptor_;
  // A wait that has ended may be answered after this is gone.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace sluice::kafka
