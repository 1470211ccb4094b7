// Numbers of bytes, and how they are written in configuration.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct Size {
  int64_t bytes = 0;

  friend auto operator<=>(const Size&, const Size&) = default;
};

constexpr Size kib(int64_t count) {
  return {count << 10};
}
constexpr Size mib(int64_t count) {
  return {count << 20};
}
constexpr Size gib(int64_t count) {
  return {count << 30};
}

// "512B", "16KiB", "64MiB", "2GiB": a whole number and its unit.
std::string format_size(Size size);
std::optional<Size> parse_size(std::string_view text);

}  // namespace sluice
