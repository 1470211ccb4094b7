// The rules of a robots.txt for one crawler (RFC 9309).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::links {

// Unchanged once it is made.
class RobotsRules {
 public:
  static constexpr size_t max_text = 512 * 1024;  // the part of a file that is read; RFC 9309 requires at least 500 KiB
  static constexpr size_t max_rules = 2000;       // of one crawler, the first ones

  // No rules: everything is allowed.
  RobotsRules() = default;

  // The rules of every group that names `agent` (a product token, compared without regard to case), of those for "*"
  // where none does. Lines that make no sense are passed over, as are bytes beyond `max_text`.
  static RobotsRules parse(std::string_view text, std::string_view agent);

  // Whether "/path?query" may be fetched. The rule with the longest pattern decides; of two equally long the one that
  // allows. /robots.txt itself always may. The work grows with the length of all patterns, and with that of `target`
  // times their number.
  bool allows(std::string_view target) const;

  // The memory it takes, roughly.
  size_t bytes() const;

 private:
  friend class RobotsParser;

  struct Rule {
    std::string pattern;  // escapes in one spelling; '*' is any text, a '$' at its end the end
    bool allow = false;
  };

  std::vector<Rule> rules_;  // the longest pattern first; of equally long ones those that allow
};

}  // namespace sluice::links
