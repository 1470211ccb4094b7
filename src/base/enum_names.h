// Names of enum values, for writing and reading them as text.
//
// The names stand once, beside the enum, and serve requests, answers, their schema and configuration:
//
//   enum class Level { debug, info };
//   constexpr auto enum_names(Level) {
//     return std::to_array<EnumName<Level>>({{Level::debug, "debug"}, {Level::info, "info"}});
//   }
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"

namespace sluice {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) { enum_names(value).size(); };

template <NamedEnum Enum>
std::string_view enum_name(Enum value) {
  static constexpr auto names = enum_names(Enum{});
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  check_failed("an enum value without a name", std::source_location::current());
}

template <NamedEnum Enum>
std::optional<Enum> parse_enum(std::string_view name) {
  static constexpr auto names = enum_names(Enum{});
  for (const auto& entry : names) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

// "debug, info": for error messages that list the valid values.
template <NamedEnum Enum>
std::string list_names() {
  std::string list;
  for (const auto& entry : enum_names(Enum{})) {
    if (!list.empty()) list += ", ";
    list += entry.name;
  }
  return list;
}

}  // namespace sluice
