// Whether brokers answer, for whoever asks often (a probe of the server's readiness).
//
// A question blocks a thread for a second at most. There is one under way at a time, on a thread of its own so that
// long questions of others don't stand in its way; whoever asks meanwhile shares its answer.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/offload.h"

namespace sluice::kafka {

// Safe to use from any thread.
class BrokerCheck {
 public:
  // Blocks for a short time, and throws what the callers are to get.
  using Ask = std::function<void()>;

  BrokerCheck() : thread_("kafka check", 1, 1) {}
  // Ends the question under way.
  ~BrokerCheck() = default;
  BrokerCheck(const BrokerCheck&) = delete;
  BrokerCheck& operator=(const BrokerCheck&) = delete;

  // Asks, unless a question is under way already. Throws what that threw.
  Task<> reach(Ask ask);

 private:
  class Waiter;
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  void join(const std::shared_ptr<Waiter>& waiter, Ask ask);
  void answer(const Ask& ask);

  std::mutex mutex_;
  Waiters waiting_;  // guarded by mutex_; somebody waits while a question is under way
  Offload thread_;   // last: it ends before what it uses
};

}  // namespace sluice::kafka
