#include "coordination/day_pace.h"

#include <algorithm>

namespace sluice::coordination {
namespace {

constexpr Duration whole_day = std::chrono::days(1);
// A budget of 10^12 times the microseconds of a day does not fit into 64 bits.
__extension__ using Wide = __int128;

int64_t share_of(int64_t permits, Duration passed) {
  return static_cast<int64_t>(Wide{permits} * passed.count() / whole_day.count());
}

// The first moment at which share_of is `permits`.
Duration time_for(int64_t permits, int64_t of) {
  return Duration{static_cast<int64_t>((Wide{permits} * whole_day.count() + of - 1) / of)};
}

}  // namespace

DayPace::DayPace(const LimitDay& day, std::optional<DaySpent> spent, Time now)
    : most_(day.most), reserve_(day.reserve) {
  const Duration local = now.time_since_epoch() + day.utc_offset;
  const auto today = std::chrono::floor<std::chrono::days>(local);
  spent_.day = today.count();
  passed_ = local - today;
  if (!spent) {
    spent_.permits = share_of(most_ - reserve_, passed_);
  } else if (spent->day >= spent_.day) {
    // A clock that went back over midnight meets tomorrow's account, at its beginning.
    if (spent->day > spent_.day) passed_ = Duration{0};
    spent_ = *spent;
  }
}

int64_t DayPace::room(bool may_use_reserve) const {
  const int64_t allowed = share_of(most_ - reserve_, passed_) + (may_use_reserve ? reserve_ : 0);
  return std::max<int64_t>(0, allowed - spent_.permits);
}

int64_t DayPace::left(bool may_use_reserve) const {
  return std::max<int64_t>(0, most_ - (may_use_reserve ? 0 : reserve_) - spent_.permits);
}

Duration DayPace::wait_for(int64_t permits, bool may_use_reserve) const {
  if (room(may_use_reserve) >= permits) return Duration{0};
  const int64_t paced = most_ - reserve_;
  const int64_t needed = spent_.permits + permits - (may_use_reserve ? reserve_ : 0);
  if (needed > paced) return rest();
  return time_for(needed, paced) - passed_;
}

}  // namespace sluice::coordination
