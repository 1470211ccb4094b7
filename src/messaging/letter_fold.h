// The open letters of one partition of a dead-letter topic.
#pragma once

#include <map>
#include <unordered_map>

#include "messaging/dead_letter.h"

namespace sluice::messaging {

// Fed with everything the partition holds, in order.
class LetterFold {
 public:
  static constexpr size_t most_open = 100'000;

  struct Open {
    DeadLetter letter;  // the first about its subject, without payload and headers
    std::string subject;
    int64_t last = 0;  // offset of the last one
  };
  using OpenLetters = std::map<int64_t, Open>;  // by offset

  // `end` is where the partition ended when folding began.
  LetterFold(std::string topic, int32_t partition, int64_t end)
      : topic_(std::move(topic)), partition_(partition), end_(end) {}

  void add(const Delivery& delivery);
  // Its mark has been written.
  void settle(int64_t offset);

  const std::string& topic() const { return topic_; }
  int32_t partition() const { return partition_; }
  int64_t end() const { return end_; }
  const OpenLetters& open() const { return open_; }
  // Nothing before it is needed any more.
  int64_t settled_before() const;

 private:
  std::string topic_;
  int32_t partition_;
  int64_t end_;
  OpenLetters open_;
  std::unordered_map<std::string, int64_t> by_subject_;
  std::optional<int64_t> unseen_from_;  // too many are open: from here on new ones were left out
};

}  // namespace sluice::messaging
