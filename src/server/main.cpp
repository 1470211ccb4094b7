// `sluice`: the server and the operator's commands.
#include "server/commands.h"

int main(int count, char** arguments) {
  using namespace sluice::server;
  sluice::Command program{
      .name = "sluice",
      .help = "Sluice stands between a crowd and something scarce.",
      .footer = "Example: sluice serve --demo --listen 127.0.0.1:8080",
      .commands = {serve_command(), migrate_command(), config_command(), metrics_command(), admin_command(),
                   documents_command(), jobs_command(), log_command(), dlq_command(), version_command()}};
  program.commands.push_back(commands_command(program));
  return sluice::run_command_line(program, count, arguments);
}
