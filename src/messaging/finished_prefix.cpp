#include "messaging/finished_prefix.h"

#include "base/check.h"

namespace sluice::messaging {

FinishedPrefix::Ticket FinishedPrefix::add(int64_t offset) {
  const int64_t above = messages_.empty() ? next_.value_or(offset) - 1 : messages_.back().offset;
  check_that(offset > above, "offset {} was delivered after {}", offset, above);
  messages_.push_back({offset, false});
  ++unfinished_;
  return first_ + messages_.size() - 1;
}

void FinishedPrefix::finish(Ticket ticket) {
  check_that(ticket >= first_ && ticket - first_ < messages_.size(), "ticket {} of [{}, {})", ticket, first_,
             first_ + messages_.size());
  Message& message = messages_[ticket - first_];
  check_that(!message.finished, "offset {} is finished twice", message.offset);
  message.finished = true;
  --unfinished_;
  while (!messages_.empty() && messages_.front().finished) {
    next_ = messages_.front().offset + 1;
    messages_.pop_front();
    ++first_;
  }
}

}  // namespace sluice::messaging
