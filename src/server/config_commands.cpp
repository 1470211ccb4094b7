#include <fmt/format.h>

#include "runtime/metrics.h"
#include "server/commands.h"

namespace sluice::server {
namespace {

int check_config(const CommonFlags& flags) {
  if (!settings_or_complain(flags)) return asked_wrongly;
  fmt::print("the configuration is fine\n");
  return 0;
}

int print_config(const CommonFlags& flags) {
  const auto loaded = settings_or_complain(flags);
  if (!loaded) return asked_wrongly;
  fmt::print("{}", loaded->loader.print());
  return 0;
}

int print_config_docs() {
  LoadedSettings nothing_loaded;
  nothing_loaded.settings.register_with(nothing_loaded.loader);
  fmt::print("{}", nothing_loaded.loader.docs());
  return 0;
}

int print_metrics_docs() {
  fmt::print("| metric | type | labels | meaning |\n|---|---|---|---|\n");
  for (const metrics::Description& one : metrics::families()) {
    fmt::print("| `{}` | {} | {} | {} |\n", one.name, one.type, fmt::join(one.labels, ", "), one.help);
  }
  return 0;
}

}  // namespace

Command config_command() {
  const auto flags = std::make_shared<CommonFlags>();
  return {.name = "config",
          .help = "Check, print or document the configuration",
          .footer = "Example: sluice config check --config sluice.toml",
          .commands = {{.name = "check",
                        .help = "Check the configuration and print its errors",
                        .footer = "Example: sluice config check --config sluice.toml",
                        .options = with_common(*flags),
                        .run = [flags] { return check_config(*flags); }},
                       {.name = "print",
                        .help = "Print the values in effect and the source of each",
                        .footer = "Example: SLUICE_HTTP_LISTEN=0.0.0.0:80 sluice config print",
                        .options = with_common(*flags),
                        .run = [flags] { return print_config(*flags); }},
                       {.name = "docs",
                        .help = "Print every setting as Markdown",
                        .footer = "Example: sluice config docs > docs/configuration.md",
                        .run = print_config_docs}}};
}

Command metrics_command() {
  constexpr const char* example = "Example: sluice metrics docs > docs/metrics.md";
  return {
      .name = "metrics",
      .help = "Document the metrics",
      .footer = example,
      .commands = {
          {.name = "docs", .help = "Print every metric as Markdown", .footer = example, .run = print_metrics_docs}}};
}

}  // namespace sluice::server
