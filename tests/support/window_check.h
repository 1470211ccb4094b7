// Looks at every window, not at averages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/time.h"

namespace sluice::test {

// A number of events at a moment, in microseconds of any clock.
struct Happened {
  int64_t at = 0;
  int64_t count = 1;
};

// Whether some stretch of `length`, wherever it begins, has more than `most` in it: a sentence about the first, or
// nothing. A fullest window begins with something that happened, so those are all there is to look at.
inline std::string broken_window(std::vector<Happened> all, int64_t most, Duration length) {
  std::ranges::sort(all, {}, &Happened::at);
  int64_t inside = 0;
  size_t first = 0;
  for (size_t last = 0; last < all.size(); ++last) {
    inside += all[last].count;
    while (all[last].at - all[first].at >= length.count()) inside -= all[first++].count;
    if (inside > most) {
      return fmt::format("{} in the {} that begin at {}, at most {} are allowed", inside, format_duration(length),
                         all[first].at, most);
    }
  }
  return {};
}

inline int64_t total(const std::vector<Happened>& all) {
  int64_t sum = 0;
  for (const Happened& one : all) sum += one.count;
  return sum;
}

// The sum of those after `after`, up to and including `until`.
inline int64_t total_between(const std::vector<Happened>& all, int64_t after, int64_t until) {
  int64_t sum = 0;
  for (const Happened& one : all) sum += one.at > after && one.at <= until ? one.count : 0;
  return sum;
}

}  // namespace sluice::test
