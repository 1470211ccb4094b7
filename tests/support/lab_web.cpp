#include "tests/support/lab_web.h"

namespace sluice::test {
namespace {

ProcessOptions command(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{binary("sluice-lab"), "web", "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return {.arguments = std::move(arguments)};
}

}  // namespace

LabWeb::LabWeb(const std::vector<std::string>& flags) : process_(command(flags)) {
  const std::string line = process_.wait_for_line("listening on http://127.0.0.1:");
  port_ = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
}

}  // namespace sluice::test
