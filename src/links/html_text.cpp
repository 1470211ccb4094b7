#include "links/html_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace sluice::links {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
constexpr size_t longest_reference = 10;  // "#x0010ffff"

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3f))); };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (code >> 6)));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (code >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | (code >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_scalar(uint32_t code) {
  return code != 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

// `reference` is the text between the ampersand and the semicolon.
std::optional<uint32_t> meaning(std::string_view reference) {
  if (reference.starts_with('#')) {
    reference.remove_prefix(1);
    const bool hex = reference.starts_with('x') || reference.starts_with('X');
    if (hex) reference.remove_prefix(1);
    uint32_t code = 0;
    const char* end = reference.data() + reference.size();
    const auto [stop, error] = std::from_chars(reference.data(), end, code, hex ? 16 : 10);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return is_scalar(code) ? code : 0xfffd;
  }
  struct Named {
    std::string_view name;
    uint32_t code;
  };
  static constexpr std::array<Named, 18> known{{{"amp", '&'},
                                                {"lt", '<'},
                                                {"gt", '>'},
                                                {"quot", '"'},
                                                {"apos", '\''},
                                                {"nbsp", 0xa0},
                                                {"copy", 0xa9},
                                                {"reg", 0xae},
                                                {"middot", 0xb7},
                                                {"laquo", 0xab},
                                                {"raquo", 0xbb},
                                                {"ndash", 0x2013},
                                                {"mdash", 0x2014},
                                                {"lsquo", 0x2018},
                                                {"rsquo", 0x2019},
                                                {"ldquo", 0x201c},
                                                {"rdquo", 0x201d},
                                                {"hellip", 0x2026}}};
  for (const Named& named : known) {
    if (named.name == reference) return named.code;
  }
  return std::nullopt;
}

// The length of the UTF-8 character at the start of `text`; 0 if it is invalid (RFC 3629).
size_t character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first < 0xe0   ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

bool is_blank(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]) <= ' ' || character[0] == 0x7f;
  const bool c1_control =
      character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  return c1_control || character == "\xc2\xa0" || character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9" ||
         character == "\xe3\x80\x80";
}

}  // namespace

std::string decode_references(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t ampersand = std::min(text.find('&'), text.size());
    result += text.substr(0, ampersand);
    text.remove_prefix(ampersand);
    if (text.empty()) break;
    const size_t semicolon = text.substr(0, longest_reference + 2).find(';');
    const auto code = semicolon == std::string_view::npos ? std::nullopt : meaning(text.substr(1, semicolon - 1));
    if (code) {
      append_utf8(result, *code);
      text.remove_prefix(semicolon + 1);
    } else {
      result.push_back('&');
      text.remove_prefix(1);
    }
  }
  return result;
}

std::string tidy_text(std::string_view text, size_t most) {
  std::string result;
  bool blank = false;
  while (!text.empty()) {
    const size_t length = character_at(text);
    const std::string_view character = length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
    if (is_blank(character)) {
      blank = !result.empty();
      continue;
    }
    if (result.size() + (blank ? 1 : 0) + character.size() > most) break;
    if (blank) result.push_back(' ');
    blank = false;
    result += character;
  }
  return result;
}

}  // namespace sluice::links
