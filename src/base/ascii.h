// ASCII letters of protocols and formats, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = ascii_lower(c);
  return result;
}

}  // namespace sluice
