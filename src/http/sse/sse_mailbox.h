// Events waiting to be sent by a thread of the SSE hub. Internal to the hub.
//
// Publishers run on any thread and may be faster than the sending thread, so the waiting events are bounded in bytes.
// An event that does not fit is not kept, and the gap must be noticed: its subscribers are recorded instead, and are
// disconnected before anything else is sent. So a client sees everything up to some event and then the end, reconnects
// with Last-Event-ID, and its owner sends the missed events. The replacement of a subscription is recorded as such,
// because a replaced client must not reconnect. If too many subscribers would have to be recorded, all are
// disconnected. Publishers never wait and never fail.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "http/message.h"

namespace sluice::http {

// Safe to share between threads.
class SseMailbox {
 public:
  struct Letter {
    std::string topic;
    std::string subscriber;   // empty: all subscribers of the topic
    SharedBytes frame;        // null: the subscriber has a later subscription elsewhere
    uint64_t generation = 0;  // of that one
    bool last = false;        // the topic ends with it
  };

  using Name = std::pair<std::string, std::string>;  // a topic and a subscriber

  struct Mail {
    // Subscriptions replaced by one of that generation elsewhere; ended before anything else.
    std::map<Name, uint64_t> replaced;
    // Subscribers that missed an event, disconnected before the letter is sent; an empty name means all of the topic.
    std::set<Name> missed;
    bool everybody_missed = false;
    // The oldest letter. Nothing if the mailbox is empty; the next `put` wakes the thread again.
    std::optional<Letter> letter;
  };

  // Names recorded before all subscribers are disconnected.
  static constexpr size_t max_missed = 1024;

  explicit SseMailbox(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls `wake` where the thread has nothing to do yet and must be told; not after close. A single letter always fits.
  template <class Wake>
  void put(Letter letter, Wake wake) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    keep(std::move(letter));
    // Within the lock: nothing is woken once `close` has returned.
    if (!std::exchange(awake_, true)) wake();
  }

  Mail take();
  // Drops the content, and everything added later.
  void close();

 private:
  static size_t bytes_of(const Letter& letter);
  void keep(Letter letter);
  void write_down(Letter letter);

  const size_t max_bytes_;
  std::mutex mutex_;
  std::deque<Letter> letters_;
  size_t bytes_ = 0;
  std::map<Name, uint64_t> replaced_;
  std::set<Name> missed_;
  bool everybody_missed_ = false;
  bool awake_ = false;
  bool closed_ = false;
};

}  // namespace sluice::http
