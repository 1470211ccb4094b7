// How often a look that remembers its place in an index begins at the beginning again.
//
// Rows committed behind the place are found only from the beginning. But while a transaction is held open, PostgreSQL
// keeps the entries of all rows that have changed since, and a scan from the beginning walks over them. So the more
// expensive it is the more rarely it is done: it never takes more than a twentieth of the time.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "base/time.h"

namespace sluice::sql {

// Not safe to share between threads.
class RewindPace {
 public:
  bool is_cheap() const { return cost() <= 30ms; }
  // Whether it is time, with at least `pause` since the last rewind.
  bool is_due(Instant now, Instant::duration pause) const {
    return !began_at_ || now - *began_at_ >= std::max(pause, cost() * 20);
  }

  void began(Instant now) { began_at_ = now; }
  void took(Instant::duration cost) { costs_[count_++ % costs_.size()] = cost; }

 private:
  // The least of some: a machine that stood still for a moment makes nothing expensive.
  Instant::duration cost() const { return std::ranges::min(costs_); }

  std::optional<Instant> began_at_;
  std::array<Instant::duration, 3> costs_{};
  size_t count_ = 0;
};

}  // namespace sluice::sql
