// The commands of `sluice`, each in a file of its own.
//
// Each function describes one command. A command returns its exit code: 0 done, 1 failed, 2 invalid flags or
// configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/command_line.h"
#include "server/settings.h"

namespace sluice::server {

inline constexpr int failed = 1;
inline constexpr int asked_wrongly = 2;

Command serve_command();
Command migrate_command();
Command config_command();
Command metrics_command();
Command admin_command();
Command documents_command();
Command jobs_command();
Command log_command();
Command dlq_command();
Command version_command();
// Documents the commands of `program`, which must outlive it.
Command commands_command(const Command& program);

// The flags of every command that reads the configuration: --config and --data.
struct CommonFlags {
  std::string config;
  std::string data;
};
// The options of such a command: the common flags, then its own.
std::vector<CommandOption> with_common(CommonFlags& flags, std::vector<CommandOption> own = {});
// More overrides are put behind those of the common flags.
std::unique_ptr<LoadedSettings> settings_or_complain(const CommonFlags& flags,
                                                     std::vector<config::Override> overrides = {});

}  // namespace sluice::server
