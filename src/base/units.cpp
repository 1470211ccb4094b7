#include "base/units.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace sluice {

std::string format_amount(int64_t amount, std::span<const Unit> units, std::string_view zero) {
  for (const Unit& unit : units) {
    if (amount != 0 && amount % unit.amount == 0) return fmt::format("{}{}", amount / unit.amount, unit.name);
  }
  return std::string(zero);
}

std::optional<int64_t> parse_amount(std::string_view text, std::span<const Unit> units) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0) return std::nullopt;
  const std::string_view name{end, static_cast<size_t>(text.data() + text.size() - end)};
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (count > std::numeric_limits<int64_t>::max() / unit.amount) return std::nullopt;
    return count * unit.amount;
  }
  return std::nullopt;
}

}  // namespace sluice
