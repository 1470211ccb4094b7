// The messages that a consumer has in work, in a queue for each key.
//
// Only the first message of a queue may begin; the next one begins when it has finished, after all its tries. Queues
// are independent, and those that may begin do so in turn. They outlast assignments: a message that comes again because
// its partition was lost and won back waits until the handler that still has it has ended.
//
// A queue is known by a hash of its partition and key. Keys that share one would wait for each other, nothing worse.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "messaging/dead_letter.h"
#include "messaging/held_partition.h"

namespace sluice::messaging {

struct KeyQueue;

// A message in work.
struct Handling {
  Delivery delivery{};
  std::shared_ptr<HeldPartition> held{};
  FinishedPrefix::Ticket ticket = 0;
  int64_t tries = 0;
  std::optional<Failure> given_up{};  // only its dead letter remains to be written

 private:
  friend class KeyQueues;
  KeyQueue* queue_ = nullptr;
  Handling* behind_ = nullptr;  // the next of its queue
};

// Belongs to one executor. References stay valid until `finish`.
class KeyQueues {
 public:
  void add(std::shared_ptr<HeldPartition> held, Delivery delivery);

  // The next message that may begin; nothing while all wait or are at it.
  Handling* front() const { return ready_.empty() ? nullptr : first_of(*ready_.front()); }
  // The front begins: nothing else of its queue may, until one of these is called.
  void begin() { ready_.pop_front(); }
  void finish(Handling& handling);
  // It may begin again, after the queues that are ready or before them.
  void again(Handling& handling) { ready_.push_back(handling.queue_); }
  void again_at_once(Handling& handling) { ready_.push_front(handling.queue_); }

  size_t size() const { return made_.size() - spare_.size(); }

 private:
  static Handling* first_of(const KeyQueue& queue);
  Handling& spare();

  std::unordered_map<uint64_t, KeyQueue> queues_;
  std::deque<KeyQueue*> ready_;
  std::deque<Handling> made_;  // as many as ever were in work at once
  std::vector<Handling*> spare_;
};

struct KeyQueue {
  uint64_t id = 0;
  Handling* first = nullptr;
  Handling* last = nullptr;
};

inline Handling* KeyQueues::first_of(const KeyQueue& queue) {
  return queue.first;
}

}  // namespace sluice::messaging
