// The open letters of one partition of a dead-letter topic.
#pragma once

#include <map>
#include <unordered_map>

#include "messaging/dead_letter.h"

namespace sluice::messaging {

// Receives all messages of the partition, in order.
class OpenLetters {
 public:
  struct Open {
    DeadLetter letter;  // the first about its subject, without payload, headers and error
    std::string subject;
    int64_t last = 0;  // offset of the last one
  };
  using ByOffset = std::map<int64_t, Open>;

  // Keeps at most `most_open`; further letters are left out until some are settled.
  OpenLetters(std::string topic, int32_t partition, size_t most_open = 100'000)
      : topic_(std::move(topic)), partition_(partition), most_open_(most_open) {}

  void add(const Delivery& delivery);
  // Its mark has been written.
  void settle(int64_t offset);

  const std::string& topic() const { return topic_; }
  int32_t partition() const { return partition_; }
  const ByOffset& open() const { return open_; }
  // All messages before this offset were seen and are no longer needed.
  int64_t settled_before() const;

 private:
  std::string topic_;
  int32_t partition_;
  size_t most_open_;
  int64_t seen_to_ = 0;  // behind the last message that was added
  ByOffset open_;
  std::unordered_map<std::string, int64_t> by_subject_;
  std::optional<int64_t> unseen_from_;  // too many are open: from here on new ones were left out
};

}  // namespace sluice::messaging
