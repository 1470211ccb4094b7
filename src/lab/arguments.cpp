#include "lab/arguments.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace sluice::lab {

void wrong(const std::string& sentence) {
  throw CLI::ValidationError(sentence, 2);
}

Duration duration_of(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) wrong(fmt::format("{} takes a duration as 250ms, 10s or 5m, not {}", option, text));
  return *duration;
}

}  // namespace sluice::lab
