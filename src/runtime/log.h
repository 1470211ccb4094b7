// Structured log: one JSON line per entry, plain text on a terminal.
//
//   log::info("request refused", {{"path", path}, {"status", 429}});
//
// Entries are formatted where they happen and written by one thread in the background, so that a line per request costs
// well under a microsecond. A full buffer drops lines and says how many. No secrets and no personal data belong into a
// field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/enum_names.h"
#include "runtime/clock.h"
#include "runtime/config_fwd.h"

namespace sluice::log {

enum class Level { debug, info, warning, error };
// `automatic` is text where a person reads it, on a terminal, and JSON elsewhere.
enum class Format { automatic, json, text };

constexpr auto enum_names(Level) {
  return std::to_array<EnumName<Level>>(
      {{Level::debug, "debug"}, {Level::info, "info"}, {Level::warning, "warning"}, {Level::error, "error"}});
}
constexpr auto enum_names(Format) {
  return std::to_array<EnumName<Format>>({{Format::automatic, "auto"}, {Format::json, "json"}, {Format::text, "text"}});
}

struct Field {
  template <class Value>
  Field(std::string_view name, const Value& field_value) : key(name) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = field_value;
    } else if constexpr (std::is_integral_v<Value>) {
      value = static_cast<int64_t>(field_value);
    } else if constexpr (std::is_floating_point_v<Value>) {
      value = static_cast<double>(field_value);
    } else {
      value = std::string_view(field_value);
    }
  }

  std::string_view key;
  std::variant<std::string_view, int64_t, double, bool> value;
};
using Fields = std::initializer_list<Field>;

struct Options {
  Level level = Level::info;
  Format format = Format::automatic;
  int descriptor = 2;
  // Source of time stamps; without a clock entries have none.
  const Clock* clock = nullptr;
  size_t buffer_bytes = 4 << 20;

  static void describe(config::Section<Options>& section);
};

// Starts the background writer and replaces the previous options. Without it, entries go straight to standard error as
// text.
void start(const Options& options);
// Writes the remaining entries and stops the background writer.
void stop();

bool enabled(Level level);
void write(Level level, std::string_view message, Fields fields = {});

inline void debug(std::string_view message, Fields fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::info, message, fields);
}
inline void warning(std::string_view message, Fields fields = {}) {
  write(Level::warning, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::error, message, fields);
}

// The line as it would be written, without its end: for tests and for tools that print entries themselves.
std::string format_entry(const Options& options, Level level, std::string_view message, Fields fields);

}  // namespace sluice::log
