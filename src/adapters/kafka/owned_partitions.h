// The partitions a consumer owns, each with a queue of its own.
//
// librdkafka would put the messages of all partitions into one queue, and pausing a partition would discard its fetched
// messages. With a queue for each, a paused one is just not read, and librdkafka stops fetching when the queue is full.
//
// An assignment only moves forward. If the log itself goes back (a topic was recreated, or an incomplete leader took
// over, and reading restarts at the oldest message), the assignment ends and the partition gets another.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "adapters/kafka/queue_signal.h"
#include "messaging/subscription.h"

namespace sluice::kafka {

struct FetchedMessages;

struct OwnedPartition {
  messaging::AssignmentRef assignment;
  Queue queue;
  bool paused = false;
  bool leaving = false;
  // Behind the last one handed out.
  int64_t next = 0;
  // Fetched and not handed out yet.
  std::vector<messaging::Delivery> fetched = {};
  // Everything before it is committed, or was before we came; nothing until something was fetched.
  std::optional<int64_t> committed = std::nullopt;
  // How far it is to be committed.
  int64_t wanted = -1;
};

// Belongs to one executor.
class OwnedPartitions {
 public:
  OwnedPartitions(Instance instance, QueueSignal& signal) : instance_(std::move(instance)), signal_(signal) {}
  ~OwnedPartitions() { clear(); }
  OwnedPartitions(const OwnedPartitions&) = delete;
  OwnedPartitions& operator=(const OwnedPartitions&) = delete;

  // Before librdkafka is told that they are assigned.
  void add(const rd_kafka_topic_partition_list_t& partitions);
  void remove(const messaging::Assignment& assignment);
  void clear();

  // Nothing where it is not ours any more.
  OwnedPartition* find(const messaging::Assignment* assignment);
  OwnedPartition* find(std::string_view topic, int32_t partition);
  std::vector<OwnedPartition>& all() { return owned_; }

  // Available messages, without waiting, at most `most`; assignments whose log went back are lost. An error of a
  // partition is thrown if there is nothing else.
  messaging::Fetched take(size_t most);

 private:
  void fetch(OwnedPartition& owned, size_t most, const std::shared_ptr<FetchedMessages>& batch);
  void hand_out(OwnedPartition& owned, size_t most, messaging::Fetched& to);
  static void begin_anew(OwnedPartition& owned);

  Instance instance_;
  QueueSignal& signal_;
  std::vector<OwnedPartition> owned_;
  size_t first_ = 0;  // to be read from next, so that all have their turn
  rd_kafka_resp_err_t problem_ = RD_KAFKA_RESP_ERR_NO_ERROR;
};

}  // namespace sluice::kafka
