#include "base/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/encoding.h"

namespace sluice::json {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// Whether one of eight bytes is a quote, a backslash, a control character or not ASCII (which may be broken UTF-8).
bool needs_care(uint64_t bytes) {
  constexpr uint64_t ones = 0x0101010101010101;
  constexpr uint64_t highs = 0x8080808080808080;
  const uint64_t quote = bytes ^ (ones * '"');
  const uint64_t backslash = bytes ^ (ones * '\\');
  return (((bytes - ones * 0x20) | (quote - ones) | (backslash - ones) | bytes) & highs) != 0;
}

bool needs_care(char c) {
  return static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x80 || c == '"' || c == '\\';
}

// How much of `text`, at least, can be copied as it is.
size_t plain_prefix(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, 8);
    if (needs_care(bytes)) return at;
  }
  while (at < text.size() && !needs_care(text[at])) ++at;
  return at;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<uint8_t>(c);
  out += "\\u00";
  out += hex_digits[byte >> 4];
  out += hex_digits[byte & 15];
}

// The length of the valid UTF-8 sequence that `text` starts with; 0 where there is none.
size_t sequence_length(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    if (is_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    out += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

void append_with_care(std::string& out, std::string_view text) {
  std::string valid;
  if (!is_utf8(text)) {
    valid = repaired(text);
    text = valid;
  }
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, from, i - from);
    append_escaped(out, c);
    from = i + 1;
  }
  out.append(text, from);
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  const size_t plain = plain_prefix(text);
  out.append(text, 0, plain);
  if (plain < text.size()) append_with_care(out, text.substr(plain));
  out += '"';
}

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
