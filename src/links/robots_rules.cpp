#include "links/robots_rules.h"

#include <algorithm>
#include <numeric>

#include "http/message.h"
#include "http/syntax.h"
#include "links/escapes.h"

namespace sluice::links {
namespace {

// '*' and '$' have a meaning in patterns only; in a path they are escaped, and a pattern may say %2A or %24.
constexpr std::string_view path_marks = "/?!&'()+,;=:@";
constexpr std::string_view pattern_marks = "/?!&'()+,;=:@*$";
constexpr size_t max_pattern = 2048;

// Finds texts in others in time that grows with the sum of their lengths, for any input (Knuth, Morris, Pratt).
class PieceFinder {
 public:
  // The first position of `piece` in `text`; npos if there is none.
  size_t find(std::string_view text, std::string_view piece) {
    if (piece.size() <= 1) return piece.empty() ? 0 : text.find(piece.front());
    note_repetitions(piece);
    size_t matched = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      matched = longest(piece, matched, text[at]);
      if (matched == piece.size()) return at + 1 - matched;
    }
    return std::string_view::npos;
  }

 private:
  // How much of `piece` stands before `next` and with it, where `matched` of it stood before.
  size_t longest(std::string_view piece, size_t matched, char next) const {
    while (matched > 0 && piece[matched] != next) matched = repeated_[matched - 1];
    return piece[matched] == next ? matched + 1 : 0;
  }

  void note_repetitions(std::string_view piece) {
    repeated_.assign(piece.size(), 0);
    for (size_t i = 1; i < piece.size(); ++i) repeated_[i] = longest(piece, repeated_[i - 1], piece[i]);
  }

  std::vector<size_t> repeated_;  // how much of the piece's beginning stands at the end of its first i + 1 characters
};

// Whether `pattern` matches the beginning of `path`. A text between two '*' is taken where it is found first: if the
// rest does not match behind that, it does not match behind a later one.
bool matches(std::string_view pattern, std::string_view path, PieceFinder& finder) {
  const bool to_the_end = pattern.ends_with('$');
  if (to_the_end) pattern.remove_suffix(1);
  size_t star = pattern.find('*');
  if (!path.starts_with(pattern.substr(0, star))) return false;
  if (star == std::string_view::npos) return !to_the_end || path.size() == pattern.size();
  path.remove_prefix(star);
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    if (star == std::string_view::npos && to_the_end) return path.ends_with(piece);
    const size_t found = finder.find(path, piece);
    if (found == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    path.remove_prefix(found + piece.size());
  }
}

// "Sluice/1.0 (x)" names the product "Sluice".
std::string_view product(std::string_view agent) {
  const auto end = std::ranges::find_if_not(
      agent, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; });
  return agent.substr(0, static_cast<size_t>(end - agent.begin()));
}

}  // namespace

// Reads a file line by line and keeps the two sets of rules that may turn out to be ours.
class RobotsParser {
 public:
  using Rules = std::vector<RobotsRules::Rule>;

  explicit RobotsParser(std::string_view agent) : agent_(product(agent)) {}

  void take_line(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = http::trim(line.substr(0, colon));
    const std::string_view value = http::trim(line.substr(colon + 1));
    if (http::equal_ignoring_case(key, "user-agent")) {
      take_agent(value);
    } else if (http::equal_ignoring_case(key, "allow")) {
      take_rule(value, true);
    } else if (http::equal_ignoring_case(key, "disallow")) {
      take_rule(value, false);
    }
  }

  Rules rules() && { return named_ ? std::move(own_) : std::move(everybodys_); }

 private:
  void take_agent(std::string_view value) {
    if (!in_agents_) is_own_ = is_everybodys_ = false;  // a new group begins
    in_agents_ = true;
    if (value.starts_with('*')) {
      is_everybodys_ = true;
    } else if (http::equal_ignoring_case(product(value), agent_)) {
      is_own_ = named_ = true;
    }
  }

  void take_rule(std::string_view value, bool allow) {
    in_agents_ = false;
    if (value.empty() || value.size() > max_pattern) return;  // an empty one says nothing
    if (is_own_) add(own_, value, allow);
    if (is_everybodys_) add(everybodys_, value, allow);
  }

  static void add(Rules& rules, std::string_view value, bool allow) {
    if (rules.size() < RobotsRules::max_rules) rules.push_back({normalize_escapes(value, pattern_marks), allow});
  }

  std::string_view agent_;
  Rules own_;
  Rules everybodys_;
  bool named_ = false;
  bool in_agents_ = false;  // the lines before were User-agent lines
  bool is_own_ = false;
  bool is_everybodys_ = false;
};

RobotsRules RobotsRules::parse(std::string_view text, std::string_view agent) {
  text = text.substr(0, max_text);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  RobotsParser parser(agent);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    parser.take_line(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  RobotsRules result;
  result.rules_ = std::move(parser).rules();
  std::ranges::sort(result.rules_, std::greater{},
                    [](const Rule& rule) { return std::pair(rule.pattern.size(), rule.allow); });
  return result;
}

bool RobotsRules::allows(std::string_view target) const {
  if (target == "/robots.txt") return true;
  const std::string path = normalize_escapes(target, path_marks);
  PieceFinder finder;
  const auto deciding =
      std::ranges::find_if(rules_, [&](const Rule& rule) { return matches(rule.pattern, path, finder); });
  return deciding == rules_.end() || deciding->allow;
}

size_t RobotsRules::bytes() const {
  return std::accumulate(rules_.begin(), rules_.end(), sizeof(*this),
                         [](size_t sum, const Rule& rule) { return sum + sizeof(rule) + rule.pattern.size(); });
}

}  // namespace sluice::links
