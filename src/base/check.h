// Assertions for impossible states.
//
// `check` states an invariant that only a bug in Sluice can break. It is always on: a server that continues in an
// impossible state loses acknowledged data. Conditions that users, networks and engines can cause are never checked
// this way; they get an error response.
#pragma once

#include <source_location>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

namespace sluice {

[[noreturn]] void check_failed(std::string_view what, std::source_location where);

// Aborts with `what` and the place unless `holds`.
inline void check(bool holds, std::string_view what, std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    check_failed(what, where);
}

// A format string that remembers where it stands.
template <class... Values>
struct CheckText {
  template <class Text>
  consteval CheckText(const Text& what, std::source_location at = std::source_location::current())
      : text(what), where(at) {}

  fmt::format_string<Values...> text;
  std::source_location where;
};

// The same with values, formatted only when it fails: check_that(a <= b, "{} <= {}", a, b).
template <class... Values>
void check_that(bool holds, CheckText<std::type_identity_t<Values>...> what, Values&&... values) {
  if (!holds) [[unlikely]]
    check_failed(fmt::format(what.text, std::forward<Values>(values)...), what.where);
}

}  // namespace sluice
