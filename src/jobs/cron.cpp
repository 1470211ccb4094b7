#include "jobs/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace sluice::jobs {
namespace {

struct Range {
  unsigned first;
  unsigned last;
  std::vector<std::string_view> names{};  // of `first` and the values after it
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<unsigned> number(std::string_view text, const Range& range) {
  const auto named = std::ranges::find(range.names, text);
  if (named != range.names.end()) return range.first + static_cast<unsigned>(named - range.names.begin());
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value < range.first || value > range.last ? std::nullopt : std::optional(value);
}

// One part between commas.
bool add(std::string_view part, const Range& range, std::bitset<64>& set) {
  const auto stepped = split(part, '/');
  const auto bounds = split(stepped[0], '-');
  if (stepped.size() > 2 || bounds.size() > 2) return false;
  std::optional<unsigned> first = range.first;
  std::optional<unsigned> last = range.last;
  if (stepped[0] != "*") {
    first = number(bounds[0], range);
    if (bounds.size() == 2) last = number(bounds[1], range);
    if (bounds.size() == 1 && stepped.size() == 1) last = first;
  }
  std::optional<unsigned> step = 1;
  if (stepped.size() == 2) step = number(stepped[1], {1, range.last});
  if (!first || !last || !step || *first > *last) return false;
  for (unsigned value = *first; value <= *last; value += *step) set.set(value);
  return true;
}

std::optional<std::bitset<64>> field(std::string_view text, const Range& range) {
  std::bitset<64> set;
  for (const std::string_view part : split(text, ',')) {
    if (!add(part, range, set)) return std::nullopt;
  }
  return set;
}

}  // namespace

std::optional<Cron> Cron::parse(std::string_view text) {
  std::vector<std::string_view> fields = split(text, ' ');
  std::erase(fields, std::string_view{});
  if (fields.size() != 5) return std::nullopt;
  const auto minutes = field(fields[0], {0, 59});
  const auto hours = field(fields[1], {0, 23});
  const auto days = field(fields[2], {1, 31});
  const auto months =
      field(fields[3], {1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}});
  auto weekdays = field(fields[4], {0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}});
  if (!minutes || !hours || !days || !months || !weekdays) return std::nullopt;
  if (weekdays->test(7)) weekdays->set(0);
  Cron cron;
  cron.minutes_ = *minutes;
  cron.hours_ = *hours;
  cron.days_ = *days;
  cron.months_ = *months;
  cron.weekdays_ = *weekdays;
  cron.every_hour_ = hours->count() == 24;
  cron.any_day_ = fields[2].starts_with('*');
  cron.any_weekday_ = fields[4].starts_with('*');
  return cron;
}

bool Cron::holds_on(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool by_day = days_.test(static_cast<unsigned>(date.day()));
  const bool by_weekday = weekdays_.test(std::chrono::weekday(day).c_encoding());
  return any_day_ || any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

bool Cron::ever_fires() const {
  using namespace std::chrono;
  // Dates and weekdays recur after 28 years: then the 29th of February has been every day of the week.
  const sys_days end = sys_days(2028y / January / 1);
  for (sys_days day = sys_days(2000y / January / 1); day < end; day += days(1)) {
    if (holds_on(day)) return true;
  }
  return false;
}

// Whether clocks showed the same before, because they were set back: by an hour nearly everywhere, by half of one or by
// two in some places.
bool Cron::repeats(Time time, const TimeZone& zone) const {
  return std::ranges::any_of(std::array{30min, 60min, 120min}, [&](std::chrono::minutes back) {
    return zone.offset_at(time - back) - zone.offset_at(time) == back;
  });
}

std::optional<Time> Cron::next(Time after, const TimeZone& zone) const {
  using std::chrono::minutes;
  const Time end = after + std::chrono::days(5 * 366);
  Time time = std::chrono::floor<minutes>(after) + minutes(1);
  while (time < end) {
    const auto local = std::chrono::floor<minutes>(time + zone.offset_at(time));
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::hh_mm_ss clock(local - day);
    const auto hour = static_cast<size_t>(clock.hours().count());
    const auto minute = static_cast<size_t>(clock.minutes().count());
    if (!holds_on(day) || !hours_.test(hour) || (!every_hour_ && repeats(time, zone))) {
      time += minutes(60 - minute);  // clocks are set forward and back at whole hours, nearly everywhere
    } else if (!minutes_.test(minute)) {
      time += minutes(1);
    } else {
      return time;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::jobs
