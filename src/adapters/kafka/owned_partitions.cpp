#include "adapters/kafka/owned_partitions.h"

#include <algorithm>
#include <utility>

#include "adapters/kafka/delivery.h"
#include "runtime/log.h"

namespace sluice::kafka {

using messaging::Assignment;
using messaging::Delivery;
using messaging::Fetched;

void OwnedPartitions::add(const rd_kafka_topic_partition_list_t& partitions) {
  for (int i = 0; i < partitions.cnt; ++i) {
    const rd_kafka_topic_partition_t& given = partitions.elems[i];
    OwnedPartition owned{.assignment = std::make_shared<const Assignment>(Assignment{given.topic, given.partition}),
                         .queue = Queue(rd_kafka_queue_get_partition(instance_.get(), given.topic, given.partition))};
    rd_kafka_queue_forward(owned.queue.get(), nullptr);
    signal_.watch(owned.queue);
    owned_.push_back(std::move(owned));
  }
}

void OwnedPartitions::remove(const Assignment& assignment) {
  const auto found =
      std::ranges::find_if(owned_, [&](const OwnedPartition& owned) { return owned.assignment.get() == &assignment; });
  if (found == owned_.end()) return;
  QueueSignal::unwatch(found->queue);
  owned_.erase(found);
}

void OwnedPartitions::clear() {
  for (const OwnedPartition& owned : owned_) QueueSignal::unwatch(owned.queue);
  owned_.clear();
}

OwnedPartition* OwnedPartitions::find(const Assignment* assignment) {
  const auto found =
      std::ranges::find_if(owned_, [&](const OwnedPartition& owned) { return owned.assignment.get() == assignment; });
  return found == owned_.end() ? nullptr : &*found;
}

OwnedPartition* OwnedPartitions::find(std::string_view topic, int32_t partition) {
  const auto found = std::ranges::find_if(owned_, [&](const OwnedPartition& owned) {
    return owned.assignment->partition == partition && owned.assignment->topic == topic;
  });
  return found == owned_.end() ? nullptr : &*found;
}

Fetched OwnedPartitions::take(size_t most) {
  Fetched taken;
  const auto batch = std::make_shared<FetchedMessages>(instance_);
  const size_t count = owned_.size();
  first_ = count == 0 ? 0 : (first_ + 1) % count;
  for (size_t i = 0; i < count && taken.deliveries.size() < most; ++i) {
    OwnedPartition& owned = owned_[(first_ + i) % count];
    if (owned.paused || owned.leaving) continue;
    const size_t room = most - taken.deliveries.size();
    if (owned.fetched.empty()) fetch(owned, room, batch);
    hand_out(owned, room, taken);
  }
  if (taken.empty()) throw_if(std::exchange(problem_, RD_KAFKA_RESP_ERR_NO_ERROR));
  return taken;
}

void OwnedPartitions::fetch(OwnedPartition& owned, size_t most, const std::shared_ptr<FetchedMessages>& batch) {
  const size_t there = std::min(most, rd_kafka_queue_length(owned.queue.get()));
  if (there == 0) return;
  auto& messages = batch->messages;
  const size_t before = messages.size();
  messages.resize(before + there);
  const ssize_t taken = rd_kafka_consume_batch_queue(owned.queue.get(), 0, messages.data() + before, there);
  messages.resize(before + static_cast<size_t>(std::max<ssize_t>(0, taken)));
  owned.fetched.reserve(messages.size() - before);
  for (size_t i = before; i < messages.size(); ++i) {
    rd_kafka_message_t& message = *messages[i];
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      problem_ = message.err;
      continue;
    }
    owned.fetched.push_back(delivery_of(message, nullptr, batch));
  }
}

void OwnedPartitions::hand_out(OwnedPartition& owned, size_t most, Fetched& to) {
  const size_t room = std::min(most, owned.fetched.size());
  to.deliveries.reserve(to.deliveries.size() + room);
  size_t given = 0;
  for (; given < room; ++given) {
    Delivery& delivery = owned.fetched[given];
    if (delivery.offset < owned.next) {
      // The rest comes once its owner knows that the assignment has ended.
      to.lost.push_back(owned.assignment);
      begin_anew(owned);
      break;
    }
    owned.next = delivery.offset + 1;
    if (!owned.committed) owned.committed = delivery.offset;
    delivery.assignment = owned.assignment;
    to.deliveries.push_back(std::move(delivery));
  }
  owned.fetched.erase(owned.fetched.begin(), owned.fetched.begin() + static_cast<ptrdiff_t>(given));
}

void OwnedPartitions::begin_anew(OwnedPartition& owned) {
  log::warning("a Kafka partition was reset to an earlier offset",
               {{"topic", owned.assignment->topic}, {"partition", owned.assignment->partition}, {"from", owned.next}});
  owned.assignment = std::make_shared<const Assignment>(*owned.assignment);
  owned.paused = false;
  owned.next = 0;
  owned.committed.reset();
  owned.wanted = -1;
}

}  // namespace sluice::kafka
