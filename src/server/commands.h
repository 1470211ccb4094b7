// The commands of `sluice`, each in a file of its own.
//
// A command adds itself to the program and returns its exit code when it is chosen: 0 done, 1 it failed, 2 it was asked
// wrongly (flags or configuration).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "server/settings.h"

namespace sluice::server {

inline constexpr int failed = 1;
inline constexpr int asked_wrongly = 2;

using Chosen = std::optional<std::function<int()>>;

void add_serve(CLI::App& program, Chosen& chosen);
void add_migrate(CLI::App& program, Chosen& chosen);
void add_config(CLI::App& program, Chosen& chosen);
void add_metrics(CLI::App& program, Chosen& chosen);
void add_admin(CLI::App& program, Chosen& chosen);
void add_documents(CLI::App& program, Chosen& chosen);
void add_jobs(CLI::App& program, Chosen& chosen);
void add_log(CLI::App& program, Chosen& chosen);
void add_dlq(CLI::App& program, Chosen& chosen);
void add_version(CLI::App& program, Chosen& chosen);

// The flags of every command that reads the configuration: --config and --data.
struct CommonFlags {
  std::string config;
  std::string data;
};
void add_common_flags(CLI::App& command, CommonFlags& flags);
// More overrides are put behind those of the common flags.
std::unique_ptr<LoadedSettings> settings_or_complain(const CommonFlags& flags,
                                                     std::vector<config::Override> overrides = {});

}  // namespace sluice::server
