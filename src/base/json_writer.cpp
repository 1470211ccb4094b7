#include "base/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/json_string.h"

namespace sluice::json {
Writer& Writer::key(std::string_view name) {
  separate();
  append_string(out_, name);
  return append(':');
}

Writer& Writer::plain_key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  return *this;
}

Writer& Writer::integer(int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return raw({digits.data(), end});
}

Writer& Writer::unsigned_integer(uint64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return raw({digits.data(), end});
}

Writer& Writer::number(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text{digits.data(), end};
  raw(text);
  // Whole digits would read as an integer: -0 would lose its sign, and 1e20 not fit.
  if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  append_string(out_, text);
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace sluice::json
