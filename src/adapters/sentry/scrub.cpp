#include "adapters/sentry/scrub.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"

namespace sluice::sentry {
namespace {

constexpr std::string_view spaces = " \t\r\n";
constexpr std::string_view ends_value = " \t\r\n\"'`,;&<>(){}[]|";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}
bool is_foreign(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

size_t end_of(std::string_view text, size_t from, std::string_view enders) {
  return std::min(text.find_first_of(enders, from), text.size());
}

// Up to the next space: a query may contain anything else, quotes and brackets too.
std::string without_queries(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool opens = text[at] == '?' || (text[at] == '#' && at > 0 && !spaces.contains(text[at - 1]));
    const bool empty = at + 1 >= text.size() || ends_value.contains(text[at + 1]);
    out += text[at];
    if (!opens || empty) continue;
    out += text[at] == '?' ? "[query]" : "[fragment]";
    at = end_of(text, at, spaces) - 1;
  }
  return out;
}

// https://user:password@host
std::string without_user_info(std::string_view text) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const size_t begin = at + 3;
    const std::string_view authority = text.substr(begin, end_of(text, begin, " \t\r\n/?#\"'<>") - begin);
    const size_t host = authority.rfind('@');
    if (host == std::string_view::npos) continue;
    out.append(text.substr(done, begin - done)).append("[user]");
    done = begin + host;
  }
  return out.append(text.substr(done));
}

// The position of the secret that follows a name such as "password".
std::optional<size_t> begin_of_secret(std::string_view text, std::string_view name, size_t behind) {
  if (name == "bearer" || name == "basic") {
    const size_t value = text.find_first_not_of(spaces, behind);
    return value != std::string_view::npos && value > behind ? std::optional(value) : std::nullopt;
  }
  constexpr std::array<std::string_view, 13> secrets{"authorization", "cookie",     "password",   "passwd",  "pwd",
                                                     "secret",        "token",      "apikey",     "api_key", "api-key",
                                                     "access_key",    "credential", "private_key"};
  const bool named = std::ranges::any_of(secrets, [name](std::string_view word) { return name.contains(word); });
  const size_t sign = named ? text.find_first_not_of(" \t\"'", behind) : std::string_view::npos;
  if (sign == std::string_view::npos || (text[sign] != ':' && text[sign] != '=')) return std::nullopt;
  const size_t value = text.find_first_not_of(" \t\"'", sign + 1);
  return value == std::string_view::npos ? std::nullopt : std::optional(value);
}

// password=hunter2, "token": "...", Authorization: Bearer ..., Bearer ...
std::string without_named_secrets(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t behind = at;
    while (behind < text.size() && is_word(text[behind])) ++behind;
    const std::string name = ascii_lower(text.substr(at, behind - at));
    const auto value = name.empty() ? std::nullopt : begin_of_secret(text, name, behind);
    const bool whole_line = name.contains("authorization") || name.contains("cookie");
    const size_t next = value ? *value : std::max(behind, at + 1);
    out.append(text.substr(at, next - at));
    if (value) out += "[secret]";
    at = value ? end_of(text, *value, whole_line ? "\r\n" : ends_value) : next;
  }
  return out;
}

// The length of the sign between name and domain at `at`; 0 if there is none.
size_t at_sign(std::string_view text, size_t at) {
  if (text[at] == '@') return 1;
  return text.substr(at, 3) == "%40" ? 3 : 0;
}

std::string without_addresses(std::string_view text) {
  const auto in_name = [](char c) { return is_word(c) || is_foreign(c) || std::string_view("._%+~'").contains(c); };
  const auto in_domain = [](char c) { return is_word(c) || is_foreign(c) || c == '.'; };
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t sign = at_sign(text, at);
    size_t end = at + sign;
    while (sign > 0 && end < text.size() && in_domain(text[end])) ++end;
    const bool possible = sign > 0 && end > at + sign;
    size_t begin = out.size();
    while (possible && begin > 0 && in_name(out[begin - 1])) --begin;
    while (begin < out.size() && out[begin] == '\'') ++begin;  // a quote around it
    if (begin == out.size()) {
      out += text[at];
      continue;
    }
    out.replace(begin, std::string::npos, "[e-mail]");
    at = end - 1;
  }
  return out;
}

// Words of a language are short between hyphens; UUIDs have pieces of at most twelve.
bool looks_random(std::string_view run) {
  if (run.size() < 20) return false;
  if (!std::ranges::any_of(run, is_digit) || !std::ranges::any_of(run, is_letter)) return false;
  const auto pieces = 1 + std::ranges::count_if(run, [](char c) { return c == '-' || c == '_'; });
  return run.size() / static_cast<size_t>(pieces) >= 10;
}

std::string without_tokens(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view run = text.substr(at, end - at);
    const size_t next = std::max(end, at + 1);
    out.append(looks_random(run) ? "[token]" : text.substr(at, next - at));
    at = next;
  }
  return out;
}

}  // namespace

std::string scrub(std::string_view text) {
  std::string scrubbed = without_queries(text);
  scrubbed = without_user_info(scrubbed);
  scrubbed = without_named_secrets(scrubbed);
  scrubbed = without_addresses(scrubbed);
  return without_tokens(scrubbed);
}

}  // namespace sluice::sentry
