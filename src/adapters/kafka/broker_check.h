// Whether brokers answer, for whoever asks often (a probe of the server's readiness).
//
// A question blocks a thread for a second at most. There is one under way at a time, on a thread of its own so that
// long questions of others don't stand in its way; whoever asks meanwhile shares its answer.
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
  Waiters waiting_;  // guarded by mutex_; somebody waits while a question is under way
  Offload thread_;   // last: it ends before what it uses
};

}  // namespace sluice::kafka
