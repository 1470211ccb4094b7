// Configuration as written, before it is matched with the described settings. The TOML parser stays in config_node.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace sluice::config {

// A problem that prevents the start: its place, its key, its cause and the fix.
struct Problem {
  std::string where;    // "sluice.toml:12", "SLUICE_HTTP_LISTEN", "--listen"
  std::string key;      // "http.listen"; empty for the document itself
  std::string message;  // "must be a duration such as \"250ms\", not 5"

  std::string text() const;
};

// A value from the environment or a flag: it has no type of its own.
struct Untyped {
  std::string text;
};
// A kind of TOML value that no key takes (dates).
struct Unusable {};

struct Member;
struct Node {
  using List = std::vector<Node>;
  using Table = std::vector<Member>;

  std::variant<bool, int64_t, double, std::string, Untyped, Unusable, List, Table> value;
  std::string where;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  // As it might have been written, cut short, for messages.
  std::string shown() const;
};
struct Member {
  std::string name;
  Node node;
};

// The whole document as a table. `file` is only named.
Result<Node, Problem> parse_toml(std::string_view text, std::string_view file);

// Text as TOML writes it: in quotes, escaped.
std::string quote(std::string_view text);

}  // namespace sluice::config
