// The pending messages of all publish calls: bounded, and each with its deadline.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "base/time.h"

namespace sluice::kafka {

class Publishing;

// Safe to use from any thread.
class Pending {
 public:
  using Place = std::list<Publishing*>::iterator;

  Pending(size_t most_messages, size_t most_bytes) : most_messages_(most_messages), most_bytes_(most_bytes) {}

  // Counts a call until `forget`, whether or not there is room for it.
  void count(size_t messages, size_t bytes);
  void forget(size_t messages, size_t bytes);
  bool too_much() const { return messages_ > most_messages_ || bytes_ > most_bytes_; }

  // While its caller may wait. All calls have the same timeout, so they are in the order of their deadlines.
  Place enter(Publishing& call);
  void leave(Place place);

  // Ends the calls whose time is up; the returned ones are to be resumed.
  std::vector<std::shared_ptr<Publishing>> expire(Instant now);

 private:
  const size_t most_messages_;
  const size_t most_bytes_;
  std::atomic<size_t> messages_ = 0;
  std::atomic<size_t> bytes_ = 0;
  std::mutex mutex_;
  std::list<Publishing*> calls_;  // guarded by mutex_
};

}  // namespace sluice::kafka
