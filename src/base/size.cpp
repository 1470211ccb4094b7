#include "base/size.h"

#include <array>

#include "base/units.h"

namespace sluice {
namespace {

constexpr std::array<Unit, 4> units{{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

}  // namespace

std::string format_size(Size size) {
  return format_amount(size.bytes, units, "0B");
}

std::optional<Size> parse_size(std::string_view text) {
  const auto bytes = parse_amount(text, units);
  return bytes ? std::optional(Size{*bytes}) : std::nullopt;
}

}  // namespace sluice
