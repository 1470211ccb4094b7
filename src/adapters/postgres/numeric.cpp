#include "adapters/postgres/numeric.h"

#include <charconv>

#include "base/check.h"

namespace sluice::postgres {
namespace {

// The wire: number of digits, weight of the first, sign, decimals shown, then digits in base 10,000; 16 bits each.
constexpr uint16_t negative = 0x4000, not_a_number = 0xC000, infinite = 0xD000, minus_infinite = 0xF000;

int word(std::string_view wire, size_t i) {
  return static_cast<uint8_t>(wire.at(2 * i)) << 8 | static_cast<uint8_t>(wire.at(2 * i + 1));
}

struct Digits {
  std::string_view wire;
  int count;
  int weight;

  // The digit that stands for 10,000 to the power of `place`.
  int at(int place) const {
    const int i = weight - place;
    return i < 0 || i >= count ? 0 : word(wire, 4 + static_cast<size_t>(i));
  }
};

std::string decimal_text(const Digits& digits, bool minus, int decimals) {
  std::string text = minus ? "-" : "";
  const int top = std::max(0, digits.weight);
  text += std::to_string(digits.at(top));
  for (int place = top - 1; place >= 0; --place) text += fmt::format("{:04}", digits.at(place));
  if (decimals == 0) return text;
  std::string fraction;
  for (int place = -1; static_cast<int>(fraction.size()) < decimals; --place) {
    fraction += fmt::format("{:04}", digits.at(place));
  }
  return text + "." + fraction.substr(0, static_cast<size_t>(decimals));
}

}  // namespace

sql::Value numeric_value(std::string_view wire) {
  check(wire.size() >= 8, "a numeric has at least 8 bytes");
  const int sign = word(wire, 2);
  if (sign == not_a_number) return std::string("NaN");
  if (sign == infinite) return std::string("Infinity");
  if (sign == minus_infinite) return std::string("-Infinity");
  const Digits digits{wire, word(wire, 0), static_cast<int16_t>(word(wire, 1))};
  const int decimals = word(wire, 3);
  std::string text = decimal_text(digits, sign == negative, decimals);
  int64_t integer = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (decimals == 0 && parsed.ec == std::errc{}) return integer;
  return text;
}

}  // namespace sluice::postgres
