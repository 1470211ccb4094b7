// `sluice-lab`: what is needed to try Sluice out and to measure it.
#include <cstdio>

#include <CLI/CLI.hpp>

#include "lab/load_command.h"
#include "lab/origin_command.h"
#include "lab/web_command.h"
#include "runtime/unknown_command.h"

int main(int argc, char** argv) {
  CLI::App app("Tools to try Sluice out and to measure it.", "sluice-lab");
  app.require_subcommand(1);
  app.footer("Example:\n  sluice-lab load http://127.0.0.1:8080/healthz --rate 1000 --duration 10s");
  int exit_code = 0;
  sluice::lab::add_load_command(app, exit_code);
  sluice::lab::add_origin_command(app, exit_code);
  sluice::lab::add_web_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string reason = sluice::explain_unknown_command(app).value_or(error.what());
    std::fprintf(stderr, "sluice-lab: %s\nsluice-lab --help tells how to ask.\n", reason.c_str());
    return 2;
  }
  return exit_code;
}
