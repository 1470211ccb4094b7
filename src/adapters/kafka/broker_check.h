// Checks whether brokers answer, for frequent callers (readiness probes).
//
// A check blocks a thread for a second at most. One runs at a time, on its own thread so that long calls of others do
// not delay it; concurrent callers share its result.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/offload.h"

namespace sluice::kafka {

// Safe to use from any thread.
class BrokerCheck {
 public:
  // Why no broker answers; nothing where one does.
  using Answer = std::optional<std::string>;
  // Blocks for a short time.
  using Ask = std::function<Answer()>;

  BrokerCheck() : thread_("kafka check", 1, 1) {}
  // Ends the question under way.
  ~BrokerCheck() = default;
  BrokerCheck(const BrokerCheck&) = delete;
  BrokerCheck& operator=(const BrokerCheck&) = delete;

  // Asks, unless a question is under way already. Throws EngineUnavailable where no broker answers.
  Task<> reach(Ask ask);

 private:
  class Waiter;
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  void join(const std::shared_ptr<Waiter>& waiter, Ask ask);
  void answer(const Ask& ask);

  std::mutex mutex_;
  Waiters waiting_;  // guarded by mutex_; not empty while a check runs
  Offload thread_;   // last: it ends before the objects it uses
};

}  // namespace sluice::kafka
