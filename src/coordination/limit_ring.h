// Never more than N permits in any window: the time stamps of the last N.
//
// One more may be given when the oldest of the last N is at least a span ago; n more, when the n-th oldest is. Each
// decision looks at one stamp, regardless of N. Unknown permits count as spent: a ring begins full of stamps of now.
//
// Up to 10,000 there is a stamp for each permit and the ring is exact. Beyond, a stamp stands for a grain of several
// permits and moves to the last of them; a new grain is opened when the oldest is a span ago. Two permits within a span
// are then less than a whole ring of grains apart, so the promise is the same; up to one grain in 5,000 goes unused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace sluice::coordination {

// Microseconds of an engine's clock.
using Stamp = int64_t;

// Not safe to share between threads.
class LimitRing {
 public:
  static constexpr int64_t most_stamps = 10'000;

  // All spent at `now`.
  LimitRing(int64_t most, Duration span, Stamp now);
  // As it was: stamps from the oldest on, and how many permits the newest stands for. Spent at `now` where it is
  // another ring's.
  LimitRing(int64_t most, Duration span, std::vector<Stamp> stamps, int64_t used, Stamp now);

  // Before every decision: a stamp in the future shows that the clock went back, and all counts as spent.
  void turn_to(Stamp now) {
    if (newest() > now) [[unlikely]]
      refill(now);
  }

  // How many of `wanted` may be given now.
  int64_t available(int64_t wanted, Stamp now) const {
    const int64_t open = grain_ - used_;
    if (wanted <= open) return wanted;
    const int64_t stamps = stamps_for(wanted - open);
    if (stamps <= usable() && stamp(stamps - 1) <= now - span_) [[likely]]
      return wanted;
    return count_available(stamps, now);
  }

  // The time until `count` may be given, if none are taken meanwhile.
  Duration wait_for(int64_t count, Stamp now) const;

  // Takes permits that `available` reported.
  void take(int64_t count, Stamp now) {
    if (const int64_t open = grain_ - used_; open > 0) count -= take_open(std::min(count, open), now);
    for (; count > 0; count -= used_) {
      used_ = std::min(count, grain_);
      stamps_[head_] = now;
      if (++head_ == stamps_.size()) head_ = 0;
    }
  }

  // Permits available now.
  int64_t remaining(Stamp now) const { return available(grain_ * usable() + grain_ - used_, now); }

  // From the oldest on.
  std::vector<Stamp> stamps() const;
  int64_t used() const { return used_; }
  static int64_t grain_of(int64_t most) { return (most + most_stamps - 1) / most_stamps; }

 private:
  void refill(Stamp now);
  Stamp newest() const { return stamps_[head_ == 0 ? stamps_.size() - 1 : head_ - 1]; }
  // The i-th oldest, from 0.
  Stamp stamp(int64_t i) const {
    size_t at = head_ + static_cast<size_t>(i);
    if (at >= stamps_.size()) at -= stamps_.size();
    return stamps_[at];
  }
  int64_t stamps_for(int64_t count) const { return grain_ == 1 ? count : (count + grain_ - 1) / grain_; }
  // The newest may not be overwritten while its grain is open.
  int64_t usable() const { return static_cast<int64_t>(stamps_.size()) - (used_ < grain_ ? 1 : 0); }
  int64_t count_available(int64_t stamps, Stamp now) const;
  int64_t take_open(int64_t count, Stamp now);

  std::vector<Stamp> stamps_;
  size_t head_ = 0;  // the oldest
  int64_t grain_;
  int64_t used_;  // permits the newest stamp stands for
  int64_t span_;
};

}  // namespace sluice::coordination
