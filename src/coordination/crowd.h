// Callers on several threads that wait for the same event.
//
// Each waits on its own thread, and each thread is told once for all its callers: thousands of readers of one answer
// cost one message between threads, not thousands.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/wakeup.h"

namespace sluice::coordination {

// All methods may be called from any thread.
class Crowd {
 public:
  // The waiting callers of one thread; belongs to it. They check `over`, wait for `told`, and check again.
  struct Party {
    explicit Party(const Executor& executor) : told(executor) {}
    bool over = false;
    Wakeup told;
  };

  // The party of the thread that runs `here`, which must be the caller's; null once the moment has come.
  std::shared_ptr<Party> join(const Executor& here);

  // All callers check again, for reasons of their own.
  void stir();

  // The event has happened. All callers see everything written before.
  void end();

  bool over() const;

 private:
  using Parties = std::vector<std::pair<Executor, std::shared_ptr<Party>>>;

  mutable std::mutex mutex_;
  bool over_ = false;
  Parties parties_;
};

}  // namespace sluice::coordination
