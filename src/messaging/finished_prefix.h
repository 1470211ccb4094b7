// How far an assignment is when its messages finish in any order.
//
// The next owner of the partition starts at the committed offset, so only the messages before the first unfinished one
// may be committed: a later success never hides an earlier failure. Offsets have gaps; the queue keeps the order of
// delivery.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace sluice::messaging {

class FinishedPrefix {
 public:
  // Names a message of this prefix until it is finished.
  using Ticket = uint64_t;

  // The next message delivered; its offset is above all before it.
  Ticket add(int64_t offset);
  // Each ticket once, in any order.
  void finish(Ticket ticket);

  // Everything before it is finished. Nothing before the first message is.
  std::optional<int64_t> next() const { return next_; }
  size_t unfinished() const { return unfinished_; }
  // Messages from the first unfinished one on, finished or not, which would be delivered again.
  size_t span() const { return messages_.size(); }

 private:
  struct Message {
    int64_t offset;
    bool finished;
  };

  std::deque<Message> messages_;
  Ticket first_ = 0;  // of messages_.front()
  size_t unfinished_ = 0;
  std::optional<int64_t> next_;
};

}  // namespace sluice::messaging
