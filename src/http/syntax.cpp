#include "http/syntax.h"

#include "http/message.h"

namespace sluice::http {
namespace {

constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> table{};
  for (const char c :
       std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return token_characters[static_cast<unsigned char>(c)]; });
}

bool is_field_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool has_list_item(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::string_view next = list.substr(0, list.find(','));
    if (equal_ignoring_case(trim(next), item)) return true;
    list.remove_prefix(std::min(list.size(), next.size() + 1));
  }
  return false;
}

}  // namespace sluice::http
