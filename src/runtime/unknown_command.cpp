#include "runtime/unknown_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest.h"

namespace sluice {

std::optional<std::string> explain_unknown_command(const CLI::App& program) {
  const CLI::App* group = &program;
  std::string asked = program.get_name();
  while (!group->get_subcommands().empty()) {
    group = group->get_subcommands().front();
    asked += " " + group->get_name();
  }
  const std::vector<std::string> unknown = program.remaining(true);
  if (group->get_require_subcommand_min() == 0 || unknown.empty()) return std::nullopt;
  const bool is_flag = unknown.front().starts_with('-');
  if (is_flag) return fmt::format("there is no flag {} of {}", unknown.front(), asked);

  std::vector<std::string> known;
  for (const CLI::App* command : group->get_subcommands({})) known.push_back(command->get_name());
  return fmt::format("there is no command {} in {}; {}", unknown.front(), asked, suggest(unknown.front(), known));
}

}  // namespace sluice
