#include <fmt/format.h>

#include "runtime/metrics.h"
#include "server/commands.h"

namespace sluice::server {

void add_config(CLI::App& program, Chosen& chosen) {
  const auto flags = std::make_shared<CommonFlags>();
  CLI::App* const command = program.add_subcommand("config", "Check, print or document the configuration");
  command->require_subcommand(1);
  command->footer("Example: sluice config check --config sluice.toml");
  CLI::App* const check = command->add_subcommand("check", "Say what is wrong with the configuration");
  CLI::App* const print = command->add_subcommand("print", "Print what is in effect, and where each value comes from");
  CLI::App* const docs = command->add_subcommand("docs", "Print every setting as Markdown");
  add_common_flags(*check, *flags);
  add_common_flags(*print, *flags);
  check->footer("Example: sluice config check --config sluice.toml");
  print->footer("Example: SLUICE_HTTP_LISTEN=0.0.0.0:80 sluice config print");
  docs->footer("Example: sluice config docs > docs/configuration.md");
  check->callback([flags, &chosen] {
    chosen = [flags] {
      if (!settings_or_complain(*flags)) return asked_wrongly;
      fmt::print("the configuration is fine\n");
      return 0;
    };
  });
  print->callback([flags, &chosen] {
    chosen = [flags] {
      const auto loaded = settings_or_complain(*flags);
      if (!loaded) return asked_wrongly;
      fmt::print("{}", loaded->loader.print());
      return 0;
    };
  });
  docs->callback([&chosen] {
    chosen = [] {
      LoadedSettings nothing_loaded;
      nothing_loaded.settings.register_with(nothing_loaded.loader);
      fmt::print("{}", nothing_loaded.loader.docs());
      return 0;
    };
  });
}

void add_metrics(CLI::App& program, Chosen& chosen) {
  CLI::App* const command = program.add_subcommand("metrics", "What the server counts");
  command->require_subcommand(1);
  command->footer("Example: sluice metrics docs > docs/metrics.md");
  CLI::App* const docs = command->add_subcommand("docs", "Print every metric as Markdown");
  docs->footer("Example: sluice metrics docs > docs/metrics.md");
  docs->callback([&chosen] {
    chosen = [] {
      fmt::print("| metric | type | labels | meaning |\n|---|---|---|---|\n");
      for (const metrics::Description& one : metrics::families()) {
        fmt::print("| `{}` | {} | {} | {} |\n", one.name, one.type, fmt::join(one.labels, ", "), one.help);
      }
      return 0;
    };
  });
}

}  // namespace sluice::server
