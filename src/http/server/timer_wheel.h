// Many timeouts, cheaply.
//
// Nearly every timeout of a connection is set and never fires, and none needs to be exact. A timer per request would
// cost more than the request; here setting one is a store, and moving it in a ring only when it must fire earlier than
// before. Time advances in ticks; a timeout fires between its time and one tick later.
#pragma once

#include <array>

#include "base/time.h"

namespace sluice::http {

// Belongs to one thread.
class TimerWheel {
 public:
  // An entry to be notified. Belongs to at most one wheel; its destructor removes it.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   protected:
    ~Entry() { unlink(); }

   private:
    friend TimerWheel;
    virtual void on_timeout() = 0;
    void unlink();

    Entry* next_ = nullptr;
    Entry* previous_ = nullptr;
    int64_t due_ = 0;   // tick at which it fires; 0: not set
    int64_t slot_ = 0;  // tick at which the ring looks at it
  };

  explicit TimerWheel(Duration tick);
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Fires once, `timeout` after the last tick. Replaces the previous timeout. Zero or less: no timeout.
  void set(Entry& entry, Duration timeout);
  void clear(Entry& entry) { entry.due_ = 0; }

  // One tick has passed. An entry may set itself again, or be destroyed, in its own on_timeout.
  void advance();

  Duration tick() const { return tick_; }
  // How much time has passed, in whole ticks.
  Duration passed() const { return now_ * tick_; }

 private:
  static constexpr size_t slots = 512;
  struct Head final : Entry {
    void on_timeout() override {}
  };

  void link(Entry& entry, int64_t slot);

  Duration tick_;
  int64_t now_ = 1;
  std::array<Head, slots> ring_;
};

}  // namespace sluice::http
