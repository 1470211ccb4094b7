// A command line that names an unknown command.
//
// CLI11 only says that a subcommand is required, also where one was given that it does not know.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace sluice {

// "there is no command crate-key in sluice admin; did you mean create-key?", after `program` failed to parse; nothing
// where that is not why.
std::optional<std::string> explain_unknown_command(const CLI::App& program);

}  // namespace sluice
