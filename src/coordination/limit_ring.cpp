#include "coordination/limit_ring.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace sluice::coordination {

LimitRing::LimitRing(int64_t most, Duration span, Stamp now)
    : grain_(grain_of(most)), used_(grain_), span_(span.count()) {
  check_that(most >= 1, "a window has {} permits", most);
  stamps_.assign(static_cast<size_t>(most / grain_), now);
}

LimitRing::LimitRing(int64_t most, Duration span, std::vector<Stamp> stamps, int64_t used, Stamp now)
    : LimitRing(most, span, now) {
  if (stamps.size() != stamps_.size() || used < 1 || used > grain_) return;
  stamps_ = std::move(stamps);
  used_ = used;
}

Duration LimitRing::wait_for(int64_t count, Stamp now) const {
  const int64_t open = grain_ - used_;
  if (count <= open) return Duration{0};
  const int64_t stamps = std::min(stamps_for(count - open), usable());
  return Duration{std::max<int64_t>(0, stamp(stamps - 1) + span_ - now)};
}

std::vector<Stamp> LimitRing::stamps() const {
  std::vector<Stamp> ordered(stamps_.begin() + static_cast<ptrdiff_t>(head_), stamps_.end());
  ordered.insert(ordered.end(), stamps_.begin(), stamps_.begin() + static_cast<ptrdiff_t>(head_));
  return ordered;
}

void LimitRing::refill(Stamp now) {
  std::ranges::fill(stamps_, now);
  head_ = 0;
  used_ = grain_;
}

int64_t LimitRing::count_available(int64_t stamps, Stamp now) const {
  int64_t old = 0;  // how many of the oldest are surely a span ago: stamps never fall
  int64_t end = std::min(stamps, usable());
  while (old < end) {
    const int64_t middle = std::midpoint(old, end);
    if (stamp(middle) <= now - span_) {
      old = middle + 1;
    } else {
      end = middle;
    }
  }
  return grain_ - used_ + old * grain_;
}

int64_t LimitRing::take_open(int64_t count, Stamp now) {
  stamps_[head_ == 0 ? stamps_.size() - 1 : head_ - 1] = now;
  used_ += count;
  return count;
}

}  // namespace sluice::coordination
