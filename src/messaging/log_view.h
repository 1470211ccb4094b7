// Looking into the log without taking part: for operators and dead letters. Reading moves no group.
//
// Every implementation passes tests/contract/log_view_contract.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messaging/message.h"
#include "messaging/topic.h"
#include "runtime/task.h"

namespace sluice::messaging {

// From the oldest message kept to behind the newest.
struct PartitionBounds {
  int32_t partition = 0;
  int64_t first = 0;
  int64_t end = 0;
};

struct TopicView {
  Topic topic;
  std::vector<PartitionBounds> partitions;
};

struct GroupView {
  std::string group;
  std::string topic;
  int32_t partition = 0;
  std::optional<int64_t> committed{};  // nothing yet: it starts at the oldest
  int64_t lag = 0;                     // messages behind it
  std::string member{};                // its current reader, as the engine names it; empty if none
};

// Safe to use from any thread.
class LogView {
 public:
  virtual ~LogView() = default;

  virtual Task<std::vector<TopicView>> topics() = 0;
  // By group, topic and partition.
  virtual Task<std::vector<GroupView>> groups() = 0;

  // Messages of one partition at or behind `from`, at most `most` and about `bytes_at_once`. None only at its end.
  virtual Task<std::vector<Delivery>> read(std::string topic, int32_t partition, int64_t from, size_t most) = 0;

  // Drops everything before `before`, for every group.
  virtual Task<> trim(std::string topic, int32_t partition, int64_t before) = 0;
};

}  // namespace sluice::messaging
