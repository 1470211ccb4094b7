#include "coordination/limit_plan.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/check.h"
#include "runtime/config_section.h"

namespace sluice::coordination {
namespace {

// "+09:00", "-03:30"; nothing beyond the 14 hours that exist.
std::optional<Duration> parse_offset(std::string_view text) {
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  int numbers[2] = {0, 0};
  for (const size_t at : {1U, 2U, 4U, 5U}) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    int& number = numbers[at > 3];
    number = number * 10 + (text[at] - '0');
  }
  const Duration offset = std::chrono::hours(numbers[0]) + std::chrono::minutes(numbers[1]);
  if (numbers[1] >= 60 || offset > 14h) return std::nullopt;
  return text[0] == '-' ? -offset : offset;
}

std::string format_offset(Duration offset) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(offset).count();
  return fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::abs(minutes) / 60, std::abs(minutes) % 60);
}

template <class Named>
std::optional<size_t> find(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) return std::nullopt;
  return static_cast<size_t>(found - all.begin());
}

template <class Named>
std::vector<size_t> positions(const std::vector<Named>& all, const std::vector<std::string>& names) {
  std::vector<size_t> found;
  for (const std::string& name : names) {
    const std::optional<size_t> at = find(all, name);
    check_that(at.has_value(), "{} is not in the plan", name);
    found.push_back(*at);
  }
  return found;
}

}  // namespace

void LimitWindow::describe(config::Section<LimitWindow>& section) {
  section.key("name", &LimitWindow::name, "How priorities and metrics call it.").not_empty();
  section.key("most", &LimitWindow::most, "Permits within any stretch of `per`, over all instances.")
      .between(1, 10'000'000);
  section.key("per", &LimitWindow::per, "The length of the window; for a whole day use a day.").between(10ms, 1h);
}

void LimitDay::describe(config::Section<LimitDay>& section) {
  section.key("name", &LimitDay::name, "How priorities and metrics call it.").not_empty();
  section.key("most", &LimitDay::most, "Permits within one calendar day, over all instances.")
      .between(1, 1'000'000'000'000);
  section.key("reserve", &LimitDay::reserve, "Of these, what only priorities with may_use_reserve can have.")
      .at_least(0);
  section.text(
      "utc_offset", [](const LimitDay& day) { return format_offset(day.utc_offset); },
      [](LimitDay& day, const std::string& given) {
        const auto offset = parse_offset(given);
        if (offset) day.utc_offset = *offset;
        return offset.has_value();
      },
      "an offset such as \"+09:00\"", "Whose calendar day it is: that clock's distance from UTC.");
}

void LimitPriority::describe(config::Section<LimitPriority>& section) {
  section.key("name", &LimitPriority::name, "How callers and metrics call it.").not_empty();
  section.key("windows", &LimitPriority::windows, "The windows it draws from, all at once.");
  section.key("days", &LimitPriority::days, "The days it draws from, all at once.");
  section.key("may_use_reserve", &LimitPriority::may_use_reserve, "Whether the days' reserves are for it.");
}

void LimitPlan::describe(config::Section<LimitPlan>& section) {
  section
      .key("permit_life", &LimitPlan::permit_life,
           "A permit not used this long after it was asked for is void; every window is longer by it.")
      .between(1ms, 10s);
  section.list("window", &LimitPlan::window, "At most so many in any stretch of time.");
  section.list("day", &LimitPlan::day, "At most so many in a calendar day, paced over it.");
  section.list("priority", &LimitPlan::priority, "Who draws from what; the first goes first.");
}

std::vector<size_t> LimitPlan::windows_of(size_t priority_index) const {
  return positions(window, priority.at(priority_index).windows);
}

std::vector<size_t> LimitPlan::days_of(size_t priority_index) const {
  return positions(day, priority.at(priority_index).days);
}

std::optional<size_t> LimitPlan::find_priority(std::string_view priority_name) const {
  return find(priority, priority_name);
}

std::vector<size_t> LimitPlan::betters_of(size_t priority_index) const {
  const std::vector<size_t> windows = windows_of(priority_index);
  std::vector<size_t> betters;
  for (size_t better = 0; better < priority_index; ++better) {
    const std::vector<size_t> others = windows_of(better);
    if (std::ranges::find_first_of(windows, others) != windows.end()) betters.push_back(better);
  }
  return betters;
}

double LimitPlan::per_second(size_t priority_index) const {
  double least = std::numeric_limits<double>::infinity();
  for (const size_t at : windows_of(priority_index)) {
    const double seconds = std::chrono::duration<double>(span(window[at])).count();
    least = std::min(least, static_cast<double>(window[at].most) / seconds);
  }
  return least;
}

int64_t LimitPlan::most_at_once(size_t priority_index) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const size_t at : windows_of(priority_index)) least = std::min(least, window[at].most);
  return least;
}

}  // namespace sluice::coordination
