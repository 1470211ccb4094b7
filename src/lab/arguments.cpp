#include "lab/arguments.h"

#include <fmt/format.h>

#include "runtime/command_line.h"

namespace sluice::lab {

void wrong(const std::string& sentence) {
  throw UsageError(sentence);
}

Duration duration_of(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) wrong(fmt::format("{} takes a duration such as 250ms, 10s or 5m, not {}", option, text));
  return *duration;
}

}  // namespace sluice::lab
