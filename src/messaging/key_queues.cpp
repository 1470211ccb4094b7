#include "messaging/key_queues.h"

#include "base/check.h"

namespace sluice::messaging {

void KeyQueues::add(std::shared_ptr<HeldPartition> held, Delivery delivery) {
  Handling& handling = spare();
  handling.ticket = held->prefix.add(delivery.offset);
  held->bytes += bytes_of(delivery);
  const uint64_t id = held->salt ^ std::hash<std::string_view>{}(delivery.key);
  handling.delivery = std::move(delivery);
  handling.held = std::move(held);

  KeyQueue& queue = queues_[id];
  handling.queue_ = &queue;
  if (queue.first == nullptr) {
    queue = {id, &handling, &handling};
    ready_.push_back(&queue);
  } else {
    queue.last->behind_ = &handling;
    queue.last = &handling;
  }
}

void KeyQueues::finish(Handling& handling) {
  KeyQueue& queue = *handling.queue_;
  check(queue.first == &handling, "a message that is not the first of its queue has finished");
  queue.first = handling.behind_;
  if (queue.first == nullptr) {
    queues_.erase(queue.id);
  } else {
    ready_.push_back(&queue);
  }
  handling = {};
  spare_.push_back(&handling);
}

Handling& KeyQueues::spare() {
  if (spare_.empty()) return made_.emplace_back();
  Handling& handling = *spare_.back();
  spare_.pop_back();
  return handling;
}

}  // namespace sluice::messaging
