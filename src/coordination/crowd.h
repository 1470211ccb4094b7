// Callers on several threads who wait for the same moment.
//
// Each waits on its own thread, and each thread is told once, however many wait there: thousands of readers of one
// answer cost one message between threads, not thousands.
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
  // Those who wait on one thread; belongs to it. They look at `over`, wait for `told`, and look again.
  struct Party {
    explicit Party(const Executor& executor) : told(executor) {}
    bool over = false;
    Wakeup told;
  };

  // The party of the thread that runs `here`, which must be the caller's; null once the moment has come.
  std::shared_ptr<Party> join(const Executor& here);

  // Everybody looks again, for reasons of their own.
  void stir();

  // The moment has come. What was written before is seen by everybody who learns of it.
  void end();

  bool over() const;

 private:
  using Parties = std::vector<std::pair<Executor, std::shared_ptr<Party>>>;

  mutable std::mutex mutex_;
  bool over_ = false;
  Parties parties_;
};

}  // namespace sluice::coordination
