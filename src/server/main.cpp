// `sluice`: the server and the operator's commands.
#include <exception>

#include <fmt/format.h>

#include "runtime/unknown_command.h"
#include "server/commands.h"

int main(int count, char** arguments) {
  using namespace sluice::server;
  CLI::App program("Sluice stands between a crowd and something scarce.", "sluice");
  program.require_subcommand(1);
  program.footer("Example: sluice serve --demo --listen 127.0.0.1:8080");
  Chosen chosen;
  add_serve(program, chosen);
  add_migrate(program, chosen);
  add_config(program, chosen);
  add_metrics(program, chosen);
  add_admin(program, chosen);
  add_documents(program, chosen);
  add_jobs(program, chosen);
  add_log(program, chosen);
  add_dlq(program, chosen);
  add_version(program, chosen);
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (const auto unknown = sluice::explain_unknown_command(program)) {
      fmt::print(stderr, "sluice: {}\n", *unknown);
      return asked_wrongly;
    }
    return program.exit(error) == 0 ? 0 : asked_wrongly;
  }
  try {
    return (*chosen)();
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice: {}\n", error.what());
    return failed;
  }
}
