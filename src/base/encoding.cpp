#include "base/encoding.h"

#include <simdjson.h>

namespace sluice {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 15];
  }
  return out;
}

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int byte = hex_byte(text[i], text[i + 1]);
    if (byte < 0) return std::nullopt;
    out.push_back(static_cast<uint8_t>(byte));
  }
  return out;
}

std::string to_base64url(std::span<const uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0;
  int count = 0;
  for (const uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    count += 8;
    while (count >= 6) {
      count -= 6;
      out += base64_digits[bits >> count & 63];
    }
  }
  if (count > 0) out += base64_digits[bits << (6 - count) & 63];
  return out;
}

std::optional<Bytes> from_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  Bytes out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = base64_digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<uint8_t>(bits >> count));
    }
  }
  // Left-over bits must be zero: one value has one spelling.
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return out;
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace sluice
