// `sluice-lab`: tools to try Sluice out and to measure it.
#include "lab/commands.h"

int main(int count, char** arguments) {
  using namespace sluice::lab;
  const sluice::Command program{
      .name = "sluice-lab",
      .help = "Tools to try Sluice out and to measure it.",
      .footer = "Example:\n  sluice-lab load http://127.0.0.1:8080/healthz --rate 1000 --duration 10s",
      .commands = {load_command(), origin_command(), web_command()}};
  return sluice::run_command_line(program, count, arguments);
}
