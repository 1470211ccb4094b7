#include "base/nearest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string> nearest(std::string_view text, std::span<const std::string> candidates) {
  // Long text is no typing mistake, and the distance would cost its square.
  if (text.empty() || text.size() > 100) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(1, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string suggest(std::string_view text, std::span<const std::string> known) {
  if (const auto meant = nearest(text, known)) return fmt::format("did you mean {}?", *meant);
  if (known.empty()) return "remove it";
  return fmt::format("known here: {}", fmt::join(known, ", "));
}

}  // namespace sluice
