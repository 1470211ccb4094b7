#include "base/time.h"

#include <array>

#include <fmt/format.h>

#include "base/units.h"

namespace sluice {
namespace {

constexpr int64_t count_of(Duration duration) {
  return duration.count();
}
constexpr std::array<Unit, 6> units{{{"d", count_of(24h)},
                                     {"h", count_of(1h)},
                                     {"m", count_of(1min)},
                                     {"s", count_of(1s)},
                                     {"ms", count_of(1ms)},
                                     {"us", 1}}};

// Takes exactly `count` digits off the front of `text`.
std::optional<int> take_number(std::string_view& text, size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take_char(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

// A fraction of a second: up to nine digits, of which microseconds count.
std::optional<Duration> take_fraction(std::string_view& text) {
  if (!take_char(text, '.')) return Duration{0};
  int64_t micros = 0;
  size_t digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (digits < 6) micros = micros * 10 + (text.front() - '0');
    if (++digits > 9) return std::nullopt;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (size_t i = digits; i < 6; ++i) micros *= 10;
  return Duration{micros};
}

std::optional<Duration> take_offset(std::string_view& text) {
  if (take_char(text, 'Z') || take_char(text, 'z')) return Duration{0};
  const bool east = take_char(text, '+');
  if (!east && !take_char(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take_char(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const Duration offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  return east ? offset : -offset;
}

}  // namespace

std::string format_time(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const auto in_day = static_cast<unsigned>(std::chrono::floor<std::chrono::milliseconds>(time - day).count());
  std::string text = fmt::format_int(static_cast<int>(date.year())).str();
  if (text.size() < 4) text = fmt::format("{:04}", static_cast<int>(date.year()));
  // By hand: every answer carries some times, and formatting them costs more than all else in it.
  const size_t year = text.size();
  text += "-00-00T00:00:00.000Z";
  const auto put = [&text, year](size_t end, unsigned number) {
    for (size_t at = year + end; number > 0; number /= 10) text[--at] = static_cast<char>('0' + number % 10);
  };
  put(3, static_cast<unsigned>(date.month()));
  put(6, static_cast<unsigned>(date.day()));
  put(9, in_day / 3'600'000);
  put(12, in_day / 60'000 % 60);
  put(15, in_day / 1000 % 60);
  put(19, in_day % 1000);
  return text;
}

std::optional<Time> parse_time(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take_char(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take_char(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !(take_char(text, 'T') || take_char(text, 't') || take_char(text, ' '))) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take_char(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take_char(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return Time{std::chrono::sys_days{date}} + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + *fraction - *offset;
}

std::string format_duration(Duration duration) {
  return format_amount(duration.count(), units, "0s");
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto micros = parse_amount(text, units);
  return micros ? std::optional(Duration{*micros}) : std::nullopt;
}

}  // namespace sluice
