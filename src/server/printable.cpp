#include "server/printable.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::server {
namespace {

// The character that `text` begins with, where it is to be escaped, and its length.
struct Unsafe {
  unsigned code = 0;
  size_t length = 0;  // 0: it may be shown
};

Unsafe unsafe_start(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return {byte(0), 1};
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return {byte(1), 2};
  if (byte(0) != 0xe2 || (byte(1) & 0xc0U) != 0x80 || (byte(2) & 0xc0U) != 0x80) return {};
  const unsigned code = 0x2000 | ((byte(1) & 0x3fU) << 6U) | (byte(2) & 0x3fU);
  const bool separates_or_turns = code >= 0x2028 && code <= 0x202e;
  const bool isolates = code >= 0x2066 && code <= 0x2069;
  return separates_or_turns || isolates ? Unsafe{code, 3} : Unsafe{};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Unsafe unsafe = unsafe_start(text);
    if (unsafe.length == 0) {
      out += text.front();
    } else {
      out += unsafe.code == '\n' ? "\\n" : fmt::format("\\u{:04x}", unsafe.code);
    }
    text.remove_prefix(std::max<size_t>(unsafe.length, 1));
  }
  return out;
}

}  // namespace sluice::server
