// Amounts as configuration writes them: a whole number and its unit, "250ms", "64MiB".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

struct Unit {
  std::string_view name;
  int64_t amount;  // of the smallest unit
};

// Formats in the largest unit that divides the amount; `units` come largest first. Zero is `zero`.
std::string format_amount(int64_t amount, std::span<const Unit> units, std::string_view zero);
// Nothing if the text is not a whole number, is negative or too large, or its unit is unknown or missing.
std::optional<int64_t> parse_amount(std::string_view text, std::span<const Unit> units);

}  // namespace sluice
