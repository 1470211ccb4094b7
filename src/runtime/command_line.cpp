#include "runtime/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace sluice {
namespace {

constexpr int failed = 1;
constexpr int asked_wrongly = 2;

// The whole of `text` as a number.
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

template <class Number>
ValueCheck in_range(const char* type, Number lowest, Number highest) {
  const auto problem = [lowest, highest](const std::string& text) {
    const auto number = parse_number<Number>(text);
    const bool good = number && *number >= lowest && *number <= highest;
    return good ? "" : fmt::format("Value {} not in range {} to {}", text, lowest, highest);
  };
  return {.expected = fmt::format("{} in [{} - {}]", type, lowest, highest), .problem = problem};
}

CLI::Option& add_option(CLI::App& parser, const CommandOption& option) {
  CLI::Option* const added = std::visit(
      [&](auto* place) {
        if constexpr (std::is_same_v<decltype(place), bool*>) {
          return parser.add_flag(option.name, *place, option.help);
        } else {
          return parser.add_option(option.name, *place, option.help);
        }
      },
      option.value);
  added->required(option.required);
  if (option.show_default) added->capture_default_str();
  if (option.check.problem) {
    added->check(CLI::Validator([check = option.check](std::string& text) { return check.problem(text); },
                                option.check.expected));
  }
  if (!option.variable.empty()) added->envname(option.variable);
  if (!option.excludes.empty()) added->excludes(parser.get_option(option.excludes));
  if (option.separator != 0) added->delimiter(option.separator);
  if (option.separator == 0 && option.name.starts_with('-')) added->allow_extra_args(false);
  return *added;
}

void describe(CLI::App& parser, const Command& command) {
  parser.footer(command.footer);
  if (!command.run) parser.require_subcommand(1);
  for (const CommandOption& option : command.options) add_option(parser, option);
  for (const Command& one : command.commands) describe(*parser.add_subcommand(one.name, one.help), one);
}

// A command that was named, as its description and as people call it.
struct Named {
  const Command* command;
  std::string call;
};

// The innermost command that the arguments name.
Named innermost(const CLI::App& parser, const Command& program) {
  Named named{&program, program.name};
  const CLI::App* group = &parser;
  while (!group->get_subcommands().empty()) {
    group = group->get_subcommands().front();
    named.command = &*std::ranges::find(named.command->commands, group->get_name(), &Command::name);
    named.call += " " + group->get_name();
  }
  return named;
}

// A group of commands was given an unknown one. The parser would only say that a command is missing.
std::optional<std::string> explain_unknown(const CLI::App& parser, const Named& group) {
  const std::vector<std::string> unknown = parser.remaining(true);
  if (group.command->run || unknown.empty()) return std::nullopt;
  if (unknown.front().starts_with('-')) return fmt::format("there is no flag {} of {}", unknown.front(), group.call);
  std::vector<std::string> known;
  for (const Command& command : group.command->commands) known.push_back(command.name);
  return fmt::format("there is no command {} in {}; {}", unknown.front(), group.call, suggest(unknown.front(), known));
}

int complain(const Command& program, const Named& named, const std::string& sentence) {
  fmt::print(stderr, "{}: {}\nRun {} --help for more information.\n", program.name, sentence, named.call);
  return asked_wrongly;
}

std::string in_markdown(const CommandOption& option) {
  std::string names = option.name;
  if (!option.variable.empty()) names += ", " + option.variable;
  const std::string expected = option.check.expected.empty() ? "" : fmt::format(" ({})", option.check.expected);
  return fmt::format("| `{}` | {}{}{} |\n", names, option.help, expected, option.required ? "; required" : "");
}

void append_docs(const Command& command, const std::string& call, std::string& text) {
  text += fmt::format("\n## {}\n{}{}\n", call, command.help, command.help.ends_with('.') ? "" : ".");
  if (!command.options.empty()) text += "\n| option | meaning |\n|---|---|\n";
  for (const CommandOption& option : command.options) text += in_markdown(option);
  if (!command.footer.empty()) text += fmt::format("\n```\n{}\n```\n", command.footer);
  for (const Command& one : command.commands) append_docs(one, call + " " + one.name, text);
}

}  // namespace

ValueCheck integer_in(int64_t lowest, int64_t highest) {
  return in_range("INT", lowest, highest);
}

ValueCheck number_in(double lowest, double highest) {
  return in_range("FLOAT", lowest, highest);
}

ValueCheck positive_number() {
  return {.expected = "POSITIVE", .problem = [](const std::string& text) {
            const auto number = parse_number<double>(text);
            return number && *number > 0 ? "" : fmt::format("Value {} is not a positive number", text);
          }};
}

ValueCheck not_negative() {
  return {.expected = "NONNEGATIVE", .problem = [](const std::string& text) {
            const auto number = parse_number<double>(text);
            return number && *number >= 0 ? "" : fmt::format("Value {} is not a number from 0 up", text);
          }};
}

ValueCheck one_of(std::vector<std::string> values) {
  const std::string expected = fmt::format("{{{}}}", fmt::join(values, ","));
  return {.expected = expected, .problem = [values = std::move(values), expected](const std::string& text) {
            const bool known = std::ranges::find(values, text) != values.end();
            return known ? "" : fmt::format("{} not in {}", text, expected);
          }};
}

int run_command_line(const Command& program, int count, const char* const* arguments) {
  CLI::App parser(program.help, program.name);
  describe(parser, program);
  try {
    parser.parse(count, arguments);
  } catch (const CLI::CallForHelp& help) {
    return parser.exit(help);
  } catch (const CLI::ParseError& error) {
    const Named named = innermost(parser, program);
    if (const auto unknown = explain_unknown(parser, named)) {
      fmt::print(stderr, "{}: {}\n", program.name, *unknown);
      return asked_wrongly;
    }
    return complain(program, named, error.what());
  }
  const Named named = innermost(parser, program);
  try {
    return named.command->run();
  } catch (const UsageError& error) {
    return complain(program, named, error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return failed;
  }
}

std::string command_docs(const Command& program) {
  std::string text;
  append_docs(program, program.name, text);
  return text.substr(1);
}

}  // namespace sluice
