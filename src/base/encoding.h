// Bytes as text: hexadecimal, base64url, and whether text is UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

using Bytes = std::vector<uint8_t>;

inline constexpr std::string_view hex_digits = "0123456789abcdef";
// The value of a hexadecimal digit in either case; -1 for any other character.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
// The value of two hexadecimal digits, or -1.
constexpr int hex_byte(char high, char low) {
  const int first = hex_value(high);
  const int second = hex_value(low);
  return first < 0 || second < 0 ? -1 : first * 16 + second;
}
std::string to_hex(std::span<const uint8_t> bytes);  // lower case
std::optional<Bytes> from_hex(std::string_view text);

// RFC 4648, the URL-safe alphabet, without padding.
std::string to_base64url(std::span<const uint8_t> bytes);
std::optional<Bytes> from_base64url(std::string_view text);

bool is_utf8(std::string_view text);

inline std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sluice
