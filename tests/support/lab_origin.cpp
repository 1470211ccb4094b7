#include "tests/support/lab_origin.h"

#include <fmt/format.h>

namespace sluice::test {
namespace {

ProcessOptions command(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{binary("sluice-lab"), "origin", "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return {.arguments = std::move(arguments)};
}

}  // namespace

LabOrigin::LabOrigin(const std::vector<std::string>& flags) : process_(command(flags)) {
  const std::string line = process_.wait_for_line("listening on http://127.0.0.1:");
  port_ = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
}

std::string LabOrigin::toml(const std::string& more) const {
  return fmt::format(
      "[[documents.origin]]\nname = \"scourt\"\nbase_url = \"{}/\"\n{}\n"
      "[documents.origin.require]\ncontent_type_not = [\"text/html\"]\nwell_formed_xml = true\n"
      "namespace = \"http://www.inswave.com/websquare\"\n",
      url(), more);
}

}  // namespace sluice::test
