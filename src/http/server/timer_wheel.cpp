#include "http/server/timer_wheel.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::http {

void TimerWheel::Entry::unlink() {
  if (next_ == nullptr) return;
  next_->previous_ = previous_;
  previous_->next_ = next_;
  next_ = previous_ = nullptr;
}

TimerWheel::TimerWheel(Duration tick) : tick_(tick) {
  check(tick.count() > 0, "a tick must be longer than zero");
  for (Head& head : ring_) head.next_ = head.previous_ = &head;
}

TimerWheel::~TimerWheel() {
  for (Head& head : ring_) {
    while (head.next_ != &head) head.next_->unlink();
  }
}

void TimerWheel::link(Entry& entry, int64_t slot) {
  entry.unlink();
  // Beyond the ring's length it is looked at on the way and put further.
  entry.slot_ = std::min(slot, now_ + static_cast<int64_t>(slots) - 1);
  Entry& head = ring_[static_cast<size_t>(entry.slot_) % slots];
  entry.next_ = &head;
  entry.previous_ = head.previous_;
  head.previous_->next_ = &entry;
  head.previous_ = &entry;
}

void TimerWheel::set(Entry& entry, Duration timeout) {
  if (timeout.count() <= 0) return clear(entry);
  entry.due_ = now_ + (timeout + tick_ - Duration{1}) / tick_ + 1;
  // Linked earlier than due is fine: the ring passes it on. Later is not.
  if (entry.next_ == nullptr || entry.slot_ > entry.due_) link(entry, entry.due_);
}

void TimerWheel::advance() {
  ++now_;
  Entry& head = ring_[static_cast<size_t>(now_) % slots];
  // Entries linked here during the walk are at least one round away and stay behind `last`.
  Entry* const last = head.previous_;
  bool more = last != &head;
  while (more && head.next_ != &head) {
    Entry& entry = *head.next_;
    more = &entry != last;
    entry.unlink();
    if (entry.due_ == 0) continue;
    if (entry.due_ > now_) {
      link(entry, entry.due_);
      continue;
    }
    entry.due_ = 0;
    entry.on_timeout();
  }
}

}  // namespace sluice::http
