#include "base/id.h"

#include "base/encoding.h"

namespace sluice {
namespace {

constexpr std::string_view form = "00000000-0000-0000-0000-000000000000";

}  // namespace

std::string Uuid::text() const {
  std::string out(form);
  size_t at = 0;
  for (const uint8_t byte : bytes) {
    if (out[at] == '-') ++at;
    out[at++] = hex_digits[byte >> 4];
    out[at++] = hex_digits[byte & 15];
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != form.size()) return std::nullopt;
  Uuid uuid;
  size_t at = 0;
  for (uint8_t& byte : uuid.bytes) {
    if (form[at] == '-' && text[at++] != '-') return std::nullopt;
    const int value = hex_byte(text[at], text[at + 1]);
    if (value < 0) return std::nullopt;
    byte = static_cast<uint8_t>(value);
    at += 2;
  }
  return uuid;
}

Uuid Uuid::v7(Time now, Random& random) {
  Uuid uuid;
  random.fill(uuid.bytes);
  const auto millis =
      static_cast<uint64_t>(std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch().count());
  for (size_t i = 0; i < 6; ++i) uuid.bytes[i] = static_cast<uint8_t>(millis >> (40 - 8 * i));
  uuid.bytes[6] = static_cast<uint8_t>(0x70 | (uuid.bytes[6] & 0x0f));
  uuid.bytes[8] = static_cast<uint8_t>(0x80 | (uuid.bytes[8] & 0x3f));
  return uuid;
}

}  // namespace sluice
