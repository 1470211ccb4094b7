#include "server/commands.h"

#include <fmt/format.h>

#include "server/version.h"

namespace sluice::server {

std::vector<CommandOption> with_common(CommonFlags& flags, std::vector<CommandOption> own) {
  std::vector<CommandOption> options{
      {.name = "--config",
       .value = &flags.config,
       .help = "Configuration file (default: ./sluice.toml if it is there)"},
      {.name = "--data", .value = &flags.data, .help = "Data folder of the embedded engine (default: ./data)"}};
  options.insert(options.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return options;
}

std::unique_ptr<LoadedSettings> settings_or_complain(const CommonFlags& flags,
                                                     std::vector<config::Override> overrides) {
  if (!flags.data.empty()) overrides.push_back({"storage.data", flags.data, "--data"});
  auto loaded = load_settings({flags.config, std::move(overrides)});
  if (loaded->problems.empty()) return loaded;
  for (const config::Problem& problem : loaded->problems) fmt::print(stderr, "{}\n", problem.text());
  return nullptr;
}

Command version_command() {
  return {.name = "version", .help = "Print the version", .footer = "Example: sluice version", .run = [] {
            fmt::print("sluice {}\n", version);
            return 0;
          }};
}

Command commands_command(const Command& program) {
  constexpr const char* example = "Example: sluice commands docs > docs/commands.md";
  Command docs{.name = "docs", .help = "Print every command as Markdown", .footer = example, .run = [&program] {
                 fmt::print("{}", command_docs(program));
                 return 0;
               }};
  return {.name = "commands", .help = "Document the commands", .footer = example, .commands = {std::move(docs)}};
}

}  // namespace sluice::server
