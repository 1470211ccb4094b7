#include "base/size.h"

#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<Unit, 4> units{{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

}  // namespace

std::string format_size(Size size) {
  for (const Unit& unit : units) {
    if (size.bytes != 0 && size.bytes % unit.bytes == 0) return fmt::format("{}{}", size.bytes / unit.bytes, unit.name);
  }
  return "0B";
}

std::optional<Size> parse_size(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0) return std::nullopt;
  const std::string_view name{end, static_cast<size_t>(text.data() + text.size() - end)};
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (count > std::numeric_limits<int64_t>::max() / unit.bytes) return std::nullopt;
    return Size{count * unit.bytes};
  }
  return std::nullopt;
}

}  // namespace sluice
