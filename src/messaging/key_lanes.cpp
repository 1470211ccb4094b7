#include "messaging/key_lanes.h"

#include "base/check.h"

namespace sluice::messaging {

void KeyLanes::add(std::shared_ptr<HeldPartition> held, Delivery delivery) {
  Handling& handling = spare();
  handling.ticket = held->prefix.add(delivery.offset);
  held->bytes += bytes_of(delivery);
  const uint64_t id = held->salt ^ std::hash<std::string_view>{}(delivery.key);
  handling.delivery = std::move(delivery);
  handling.held = std::move(held);

  Lane& lane = lanes_[id];
  handling.lane_ = &lane;
  if (lane.first == nullptr) {
    lane = {id, &handling, &handling};
    ready_.push_back(&lane);
  } else {
    lane.last->behind_ = &handling;
    lane.last = &handling;
  }
}

void KeyLanes::finish(Handling& handling) {
  Lane& lane = *handling.lane_;
  check(lane.first == &handling, "a message that is not the first of its lane has finished");
  lane.first = handling.behind_;
  if (lane.first == nullptr) {
    lanes_.erase(lane.id);
  } else {
    ready_.push_back(&lane);
  }
  handling = {};
  spare_.push_back(&handling);
}

Handling& KeyLanes::spare() {
  if (spare_.empty()) return made_.emplace_back();
  Handling& handling = *spare_.back();
  spare_.pop_back();
  return handling;
}

}  // namespace sluice::messaging
