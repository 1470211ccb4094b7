#include "runtime/time_zone.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace sluice {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr size_t header_bytes = 44;

int64_t big_endian(std::string_view bytes) {
  uint64_t value = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(value);
}

// The numbers of things in one block of the file, as its header says.
struct Counts {
  explicit Counts(std::string_view header) {
    const auto count = [header](size_t i) { return static_cast<size_t>(big_endian(header.substr(20 + 4 * i, 4))); };
    in_utc = count(0);
    standard = count(1);
    leap_seconds = count(2);
    changes = count(3);
    types = count(4);
    letters = count(5);
  }
  size_t bytes(size_t time_bytes) const {
    return changes * (time_bytes + 1) + types * 6 + letters + leap_seconds * (time_bytes + 4) + standard + in_utc;
  }

  size_t in_utc;
  size_t standard;
  size_t leap_seconds;
  size_t changes;
  size_t types;
  size_t letters;
};

bool is_header(std::string_view bytes) {
  return bytes.size() >= header_bytes && bytes.starts_with("TZif") && bytes[4] >= '2';
}

}  // namespace

// Reads "EST5EDT,M3.2.0,M11.1.0/2".
class TimeZone::RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  std::optional<Rule> read() {
    Rule rule;
    skip_name();
    rule.standard = -time();
    rule.summer = rule.standard + std::chrono::hours(1);
    if (text_.empty()) return good_ ? std::optional(rule) : std::nullopt;
    skip_name();
    if (!text_.empty() && text_.front() != ',') rule.summer = -time();
    const YearlyDay from = day();
    const YearlyDay until = day();
    rule.summer_time.emplace(from, until);
    return good_ && text_.empty() ? std::optional(rule) : std::nullopt;
  }

 private:
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_name() {
    const bool quoted = take('<');
    const auto in_name = [quoted](char c) {
      return quoted ? c != '>' : std::isalpha(static_cast<unsigned char>(c)) != 0;
    };
    while (!text_.empty() && in_name(text_.front())) text_.remove_prefix(1);
    if (quoted) good_ = take('>') && good_;
  }
  int number() {
    int value = 0;
    bool any = false;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0 && value < 1'000) {
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
      any = true;
    }
    good_ = good_ && any;
    return value;
  }
  seconds time() {
    const bool negative = take('-') || (take('+') && false);
    seconds total = std::chrono::hours(number());
    if (take(':')) total += std::chrono::minutes(number());
    if (take(':')) total += seconds(number());
    return negative ? -total : total;
  }
  YearlyDay day() {
    good_ = take(',') && take('M') && good_;
    YearlyDay day;
    day.month = static_cast<unsigned>(number());
    good_ = take('.') && good_;
    day.week = static_cast<unsigned>(number());
    good_ = take('.') && good_;
    day.weekday = static_cast<unsigned>(number());
    if (take('/')) day.time = time();
    good_ = good_ && day.month >= 1 && day.month <= 12 && day.week >= 1 && day.week <= 5 && day.weekday <= 6;
    return day;
  }

  std::string_view text_;
  bool good_ = true;
};

sys_seconds TimeZone::YearlyDay::in(std::chrono::year year, seconds offset) const {
  const std::chrono::month of(month);
  const std::chrono::weekday on(weekday);
  const std::chrono::sys_days date = week == 5 ? std::chrono::sys_days(year / of / on[std::chrono::last])
                                               : std::chrono::sys_days(year / of / on[week]);
  return date + time - offset;
}

std::optional<TimeZone> TimeZone::find(const std::string& name) {
  if (name == "UTC") return TimeZone{};
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/_+-").contains(c);
  };
  if (name.empty() || name.front() == '/' || !std::ranges::all_of(name, is_part)) return std::nullopt;
  std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return file.bad() ? std::nullopt : parse(bytes);
}

std::optional<TimeZone> TimeZone::parse(std::string_view file) {
  if (!is_header(file)) return std::nullopt;
  const size_t old = header_bytes + Counts(file).bytes(4);  // of version 1, for readers that know no other
  if (old > file.size() || !is_header(file.substr(old))) return std::nullopt;
  file.remove_prefix(old);
  const Counts counts(file);
  file.remove_prefix(header_bytes);
  if (counts.types == 0 || counts.bytes(8) > file.size()) return std::nullopt;

  const std::string_view times = file.substr(0, counts.changes * 8);
  const std::string_view kinds = file.substr(times.size(), counts.changes);
  const std::string_view types = file.substr(times.size() + kinds.size(), counts.types * 6);
  const auto offset = [types](size_t type) { return seconds(big_endian(types.substr(type * 6, 4))); };
  TimeZone zone;
  zone.first_ = offset(0);
  for (size_t i = 0; i < counts.changes; ++i) {
    const auto type = static_cast<unsigned char>(kinds[i]);
    if (type >= counts.types) return std::nullopt;
    zone.changes_.push_back({sys_seconds(seconds(big_endian(times.substr(i * 8, 8)))), offset(type)});
  }
  const std::string_view footer = file.substr(counts.bytes(8));
  if (footer.size() > 2) zone.rule_ = RuleReader(footer.substr(1, footer.size() - 2)).read();
  return zone;
}

seconds TimeZone::offset_at(Time time) const {
  const auto next = std::ranges::upper_bound(changes_, std::chrono::floor<seconds>(time), {}, &Change::at);
  const seconds listed = next == changes_.begin() ? first_ : std::prev(next)->offset;
  if (next != changes_.end() || !rule_) return listed;
  if (!rule_->summer_time) return rule_->standard;
  const auto& [from, until] = *rule_->summer_time;
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time + rule_->standard));
  const bool begun = time >= from.in(date.year(), rule_->standard);
  const bool ended = time >= until.in(date.year(), rule_->summer);
  const bool northern = from.month < until.month;
  const bool summer = northern ? begun && !ended : begun || !ended;
  return summer ? rule_->summer : rule_->standard;
}

}  // namespace sluice
