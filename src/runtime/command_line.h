// A program's command line: its commands with their options, described once as data.
//
//   Command version{.name = "version", .help = "Print the version", .footer = "Example: sluice version",
//                   .run = [] { ... return 0; }};
//   const Command program{.name = "sluice", .help = "...", .commands = {serve_command(), version}};
//   return run_command_line(program, count, arguments);
//
// Parsing, `--help`, error messages and the documentation all come from the description. The library that parses is
// included in command_line.cpp alone, because it takes many seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace sluice {

// Thrown by a command whose arguments make no sense together. The sentence is printed; the exit code is 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A rule for the value of an option.
struct ValueCheck {
  std::string expected = {};                                    // shown in the help
  std::function<std::string(const std::string&)> problem = {};  // a sentence; empty if the value is fine
};
ValueCheck integer_in(int64_t lowest, int64_t highest);
ValueCheck number_in(double lowest, double highest);
ValueCheck positive_number();
ValueCheck not_negative();
ValueCheck one_of(std::vector<std::string> values);

struct CommandOption {
  // Receives the value. It must live until the command has run: the command's `run` usually owns it.
  using Place = std::variant<bool*, std::string*, int*, unsigned*, int64_t*, uint64_t*, double*,
                             std::vector<std::string>*, std::vector<int>*>;

  std::string name;  // "--count", "-n,--count"; without a dash it is an argument known by its position
  Place value;       // a bool is a flag that takes no value
  std::string help;
  bool required = false;
  bool show_default = false;  // in the help
  ValueCheck check = {};
  std::string variable = {};  // environment variable that gives the value if the option is absent
  std::string excludes = {};  // name of an earlier option of the command that must not be given too
  char separator = 0;         // between the values of a list; without one the option is given once for each value
};

struct Command {
  std::string name;
  std::string help;
  std::string footer = {};  // below the help: examples, exit codes
  std::vector<CommandOption> options = {};
  std::function<int()> run = {};  // returns the exit code; without it, one of `commands` must be given
  std::vector<Command> commands = {};
};

// Runs the command that the arguments name and returns its exit code; 0 after --help, 1 if it throws, 2 if the
// arguments are wrong. `program` is the root: its name is the program's.
int run_command_line(const Command& program, int count, const char* const* arguments);

// Every command with its options, as Markdown.
std::string command_docs(const Command& program);

}  // namespace sluice
