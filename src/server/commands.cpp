#include "server/commands.h"

#include <fmt/format.h>

#include "server/version.h"

namespace sluice::server {

void add_common_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--config", flags.config, "Configuration file (default: ./sluice.toml if it is there)");
  command.add_option("--data", flags.data, "Data folder of the embedded engine (default: ./data)");
}

std::unique_ptr<LoadedSettings> settings_or_complain(const CommonFlags& flags,
                                                     std::vector<config::Override> overrides) {
  if (!flags.data.empty()) overrides.push_back({"storage.data", flags.data, "--data"});
  auto loaded = load_settings({flags.config, std::move(overrides)});
  if (loaded->problems.empty()) return loaded;
  for (const config::Problem& problem : loaded->problems) fmt::print(stderr, "{}\n", problem.text());
  return nullptr;
}

void add_version(CLI::App& program, Chosen& chosen) {
  CLI::App* const command = program.add_subcommand("version", "Print the version");
  command->footer("Example: sluice version");
  command->callback([&chosen] {
    chosen = [] {
      fmt::print("sluice {}\n", version);
      return 0;
    };
  });
}

}  // namespace sluice::server
