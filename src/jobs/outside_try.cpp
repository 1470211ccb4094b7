#include "jobs/outside_try.h"

#include <charconv>

#include <fmt/format.h>

#include "base/encoding.h"
#include "jobs/job_request.h"

namespace sluice::jobs {
namespace {

std::string encode(std::string_view text) {
  return to_base64url({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// The text up to the next point, which is taken away with it.
std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('.'));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::optional<int64_t> take_number(std::string_view& text) {
  const std::string_view part = take_part(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
  return number;
}

// A job claimed at another time has never been: the worker changed the token.
constexpr Time first_time{};
constexpr Time last_time{std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1)};

std::optional<Time> take_time(std::string_view& text) {
  const std::optional<int64_t> number = take_number(text);
  if (!number) return std::nullopt;
  const Time time{Duration(*number)};
  return time < first_time || time >= last_time ? std::nullopt : std::optional(time);
}

std::optional<std::string> take_text(std::string_view& text, size_t max_characters) {
  constexpr size_t longest_character = 4;  // bytes in UTF-8
  const std::optional<Bytes> bytes = from_base64url(take_part(text));
  if (!bytes || bytes->size() > max_characters * longest_character) return std::nullopt;
  std::string decoded(bytes->begin(), bytes->end());
  return is_utf8(decoded) ? std::optional(std::move(decoded)) : std::nullopt;
}

}  // namespace

std::string to_text(const OutsideTry& outside) {
  const int64_t claimed_at = outside.claimed_at.time_since_epoch().count();
  std::string text = fmt::format("{}.{}.{}", outside.token, claimed_at, encode(outside.kind));
  if (outside.throttle_key) text += "." + encode(*outside.throttle_key);
  return text;
}

std::optional<OutsideTry> parse_outside_try(std::string_view text) {
  const bool is_number = !text.contains('.');
  const std::optional<int64_t> token = take_number(text);
  if (!token) return std::nullopt;
  if (is_number) return OutsideTry{.token = *token};
  const std::optional<Time> claimed_at = take_time(text);
  const std::optional<std::string> kind = take_text(text, max_kind_characters);
  if (!claimed_at || !kind || kind->empty()) return std::nullopt;
  OutsideTry outside{.token = *token, .kind = *kind, .claimed_at = *claimed_at};
  if (text.empty()) return outside;
  outside.throttle_key = take_text(text, max_throttle_key_characters);
  return outside.throttle_key && text.empty() ? std::optional(std::move(outside)) : std::nullopt;
}

}  // namespace sluice::jobs
