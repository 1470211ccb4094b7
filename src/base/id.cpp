#include "base/id.h"

#include "base/encoding.h"

namespace sluice {
namespace {
constexpr std::array<size_t, 4> dashes{8, 13, 18, 23};
}

std::string Uuid::text() const {
  const std::string hex = to_hex(bytes);
  std::string out;
  out.reserve(36);
  size_t from = 0;
  for (const size_t length : {8, 4, 4, 4, 12}) {
    if (!out.empty()) out += '-';
    out.append(hex, from, length);
    from += length;
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  digits.reserve(32);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = std::ranges::find(dashes, i) != dashes.end();
    if (dash != (text[i] == '-')) return std::nullopt;
    if (!dash) digits += text[i];
  }
  const auto decoded = from_hex(digits);
  if (!decoded) return std::nullopt;
  Uuid uuid;
  std::ranges::copy(*decoded, uuid.bytes.begin());
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
