#include "jobs/error_text.h"

#include <algorithm>

#include "base/encoding.h"

namespace sluice::jobs {
namespace {

constexpr std::string_view cut_mark = "...";

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

std::string keepable_error(std::string text) {
  if (text.size() > longest_error) {
    size_t end = longest_error - cut_mark.size();
    const size_t first_try = end;
    while (first_try - end < 4 && continues_character(text[end])) --end;
    text.resize(end);
    text += cut_mark;
  }
  const bool is_text = is_utf8(text);
  std::ranges::replace_if(text, [is_text](char c) { return c == '\0' || (!is_text && (c & 0x80) != 0); }, '?');
  return text;
}

}  // namespace sluice::jobs
