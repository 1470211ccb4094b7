// Configuration as written, and the kinds of value that a key may have: how each is read, written and named in the
// documentation. The TOML parser stays in config_value.cpp.
//
// | type                     | TOML                            | environment and flags         |
// |--------------------------|---------------------------------|-------------------------------|
// | bool                     | true, false                     | the same                      |
// | integers, double         | a number                        | the same                      |
// | std::string              | "text"                          | the text itself               |
// | Duration                 | "250ms", "10s", "5m"            | without the quotes            |
// | Size                     | "64MiB"                         | without the quotes            |
// | an enum with enum_names  | "name"                          | the name                      |
// | std::vector<std::string> | ["a", "b"]                      | a,b                           |
// | Secret                   | never; KEY_file = "PATH" instead | the secret, or KEY_FILE=PATH |
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/result.h"
#include "base/size.h"
#include "base/time.h"

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

// Something that must not be seen: it is never written in the file, printed or logged.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  const std::string& reveal() const { return value_; }
  std::string& reveal() { return value_; }
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

// `expected` completes "must be ...". `read` gives nothing for anything else.
template <class T>
struct Kind;

template <>
struct Kind<bool> {
  static std::string type() { return "boolean"; }
  static std::string expected() { return "true or false"; }
  static std::optional<bool> read(const Node& node);
  static std::string print(bool value) { return value ? "true" : "false"; }
};
template <>
struct Kind<double> {
  static std::string type() { return "number"; }
  static std::string expected() { return "a number"; }
  static std::optional<double> read(const Node& node);
  static std::string print(double value);
};
template <>
struct Kind<std::string> {
  static std::string type() { return "string"; }
  static std::string expected() { return "a string in quotes"; }
  static std::optional<std::string> read(const Node& node);
  static std::string print(const std::string& value) { return quote(value); }
};
template <>
struct Kind<Duration> {
  static std::string type() { return "duration"; }
  static std::string expected() { return "a duration such as \"250ms\", \"10s\" or \"5m\""; }
  static std::optional<Duration> read(const Node& node);
  static std::string print(Duration value) { return quote(format_duration(value)); }
};
template <>
struct Kind<Size> {
  static std::string type() { return "size"; }
  static std::string expected() { return "a size such as \"512KiB\" or \"64MiB\""; }
  static std::optional<Size> read(const Node& node);
  static std::string print(Size value) { return quote(format_size(value)); }
};
template <>
struct Kind<std::vector<std::string>> {
  static std::string type() { return "list of strings"; }
  static std::string expected() { return "a list of strings"; }
  static std::optional<std::vector<std::string>> read(const Node& node);
  static std::string print(const std::vector<std::string>& value);
};

std::optional<int64_t> read_integer(const Node& node);

template <std::integral T>
struct Kind<T> {
  static std::string type() { return "integer"; }
  static std::string expected() {
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      return fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    }
    return std::signed_integral<T> ? "a whole number" : "a whole number, 0 or more";
  }
  static std::optional<T> read(const Node& node) {
    const auto number = read_integer(node);
    if (!number || !std::in_range<T>(*number)) return std::nullopt;
    return static_cast<T>(*number);
  }
  static std::string print(T value) { return fmt::format("{}", value); }
};

template <NamedEnum Enum>
struct Kind<Enum> {
  static std::string type() { return "one of " + list_names<Enum>(); }
  static std::string expected() { return type(); }
  static std::optional<Enum> read(const Node& node) {
    const auto name = Kind<std::string>::read(node);
    return name ? parse_enum<Enum>(*name) : std::nullopt;
  }
  static std::string print(Enum value) { return quote(enum_name(value)); }
};

}  // namespace sluice::config
