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
  section.key("name", &LimitWindow::name, "Name used by priorities and metrics.").not_empty();
  section.key("most", &LimitWindow::most, "Permits in any interval of length `per`, over all instances.")
      .between(1, 10'000'000);
  section.key("per", &LimitWindow::per, "Length of the window; use `day` for a calendar day.").between(10ms, 1h);
}

void LimitDay::describe(config::Section<LimitDay>& section) {
  section.key("name", &LimitDay::name, "Name used by priorities and metrics.").not_empty();
  section.key("most", &LimitDay::most, "Permits in one calendar day, over all instances.")
      .between(1, 1'000'000'000'000);
  section.key("reserve", &LimitDay::reserve, "Permits of `most` that are reserved for priorities with may_use_reserve.")
      .at_least(0);
  section.text(
      "utc_offset", [](const LimitDay& day) { return format_offset(day.utc_offset); },
      [](LimitDay& day, const std::string& given) {
        const auto offset = parse_offset(given);
        if (offset) day.utc_offset = *offset;
        return offset.has_value();
      },
      "an offset such as \"+09:00\"", "UTC offset of the calendar day.");
}

void LimitPriority::describe(config::Section<LimitPriority>& section) {
  section.key("name", &LimitPriority::name, "Name used by callers and metrics.").not_empty();
  section.key("windows", &LimitPriority::windows, "Windows that each permit is drawn from.");
  section.key("days", &LimitPriority::days, "Days that each permit is drawn from.");
  section.key("may_use_reserve", &LimitPriority::may_use_reserve, "Allow use of the days' reserves.");
}

void LimitPlan::describe(config::Section<LimitPlan>& section) {
  section
      .key("permit_life", &LimitPlan::permit_life,
           "Lifetime of a permit from its request; every window is longer by this time.")
      .between(1ms, 10s);
  section.list("window", &LimitPlan::window, "A limit on permits in any interval of a given length.");
  section.list("day", &LimitPlan::day, "A limit on permits in a calendar day, spread over the day.");
  section.list("priority", &LimitPlan::priority,
               "A class of callers and the limits it uses; earlier classes go first.");
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
