#include "tests/support/sluice_server.h"

#include <csignal>

namespace sluice::test {

SluiceServer::SluiceServer(SluiceOptions options) {
  std::vector<std::string> arguments{binary("sluice"), "serve", "--listen", "127.0.0.1:0"};
  if (!options.data.empty()) arguments.insert(arguments.end(), {"--data", options.data.string()});
  if (!options.config.empty()) arguments.insert(arguments.end(), {"--config", options.config});
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  // Servers of tests have no load balancer.
  options.environment.emplace("SLUICE_PROCESS_DRAIN_DELAY", "0s");
  process_.emplace(ProcessOptions{
      .arguments = std::move(arguments), .environment = std::move(options.environment), .terminal = options.terminal});
  const std::string line = process_->wait_for_line("listening on http");
  port_ = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
}

int SluiceServer::stop() {
  process_->signal(SIGTERM);
  return process_->wait();
}

CommandResult run_sluice(std::vector<std::string> arguments, std::map<std::string, std::string> environment,
                         std::string input) {
  arguments.insert(arguments.begin(), binary("sluice"));
  Process process(
      {.arguments = std::move(arguments), .environment = std::move(environment), .input = std::move(input)});
  const int code = process.wait();
  return {code, process.output()};
}

}  // namespace sluice::test
