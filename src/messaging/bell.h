// Tells loops of this process that there may be something to do.
//
// Code that committed a change rings; loops on any thread look at once instead of at their next poll. A ring does not
// say what changed, is not remembered for later listeners, and correctness never depends on it.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>

#include "runtime/wakeup.h"

namespace sluice::messaging {

// Safe to use from any thread; outlives its listeners.
class Bell {
 public:
  // One loop's ear: belongs to the loop's executor.
  class Listener {
   public:
    // Returns when it rang since the last call, or at `when`.
    Task<> wait_until(Clock& clock, Instant when);
    // As if it had rung, for this one alone. On the loop's executor.
    void wake();

   private:
    friend class Bell;
    struct Ear;
    explicit Listener(std::shared_ptr<Ear> ear) : ear_(std::move(ear)) {}
    std::shared_ptr<Ear> ear_;
  };

  Listener listen(const Executor& executor);
  void ring();

 private:
  std::mutex mutex_;
  std::list<std::weak_ptr<Listener::Ear>> ears_;
};

}  // namespace sluice::messaging
