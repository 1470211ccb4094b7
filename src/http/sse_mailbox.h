// What waits to be sent by a thread of the SSE hub. Internal to it.
//
// Publishers are on any thread and may be faster than the thread that sends, or it may be busy; what waits meanwhile is
// bounded in bytes. A letter that does not fit is not kept, and a gap must not go unnoticed: whoever it was for is
// written down instead, and is sent away before anything else is sent. So a client sees everything up to some event and
// then the end, comes back with Last-Event-ID, and its owner tells it what it missed. A word that a subscription has
// been replaced is written down as such: whom it ends must not come back. Where too much would have to be written down,
// everybody is sent away. Publishers never wait and never fail.
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
    std::string subscriber;   // empty: everybody of the topic
    SharedBytes frame;        // null: the subscriber has a later subscription elsewhere
    uint64_t generation = 0;  // of that one
    bool last = false;        // the topic ends with it
  };

  using Name = std::pair<std::string, std::string>;  // a topic and a subscriber

  struct Mail {
    // Whose subscriptions are replaced by one of that generation elsewhere, to be ended before all else.
    std::map<Name, uint64_t> replaced;
    // Who missed something, to be sent away before the letter is sent; an empty subscriber is everybody of the topic.
    std::set<Name> missed;
    bool everybody_missed = false;
    // The oldest. Nothing where there is none; the next `put` wakes again then.
    std::optional<Letter> letter;
  };

  // How many names are written down before it is everybody.
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
  // Drops what is in it, and what comes later.
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
