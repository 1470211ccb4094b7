// `sluice`: the server and the operator's commands.
#include <exception>

#include <fmt/format.h>

#include "server/commands.h"

int main(int count, char** arguments) {
  using namespace sluice::server;
  CLI::App program("Sluice stands between a crowd and something scarce.", "sluice");
  program.require_subcommand(1);
  Chosen chosen;
  add_serve(program, chosen);
  add_migrate(program, chosen);
  add_config(program, chosen);
  add_metrics(program, chosen);
  add_admin(program, chosen);
  add_documents(program, chosen);
  add_version(program, chosen);
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    // CLI11 asks for a command also where one was given that it does not know.
    const std::vector<std::string> unknown = program.remaining(true);
    if (std::string_view(error.what()) == "A subcommand is required" && !unknown.empty()) {
      fmt::print(stderr, "sluice: there is no command {}; --help lists those there are\n", unknown.front());
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
