#include "runtime/config_node.h"

#include <algorithm>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/json_writer.h"

namespace sluice::config {
namespace {

constexpr size_t max_text = 1 << 20;

class Converter {
 public:
  explicit Converter(std::string_view file) : file_(file) {}

  Node operator()(const toml::node& from) const {
    Node node;
    node.where = fmt::format("{}:{}", file_, from.source().begin.line);
    if (const auto* table = from.as_table()) {
      node.value = convert(*table);
    } else if (const auto* list = from.as_array()) {
      Node::List& items = node.value.emplace<Node::List>();
      for (const auto& item : *list) items.push_back((*this)(item));
    } else if (from.is_boolean()) {
      node.value = from.as_boolean()->get();
    } else if (from.is_integer()) {
      node.value = from.as_integer()->get();
    } else if (from.is_floating_point()) {
      node.value = from.as_floating_point()->get();
    } else if (from.is_string()) {
      node.value = from.as_string()->get();
    } else {
      node.value = Unusable{};
    }
    return node;
  }

 private:
  Node::Table convert(const toml::table& from) const {
    std::vector<std::pair<toml::source_position, Member>> members;
    for (const auto& [key, value] : from) {
      // A value begins at its key; a table that only has tables inside begins nowhere itself.
      const auto at = key.source().begin ? key.source().begin : value.source().begin;
      members.emplace_back(at, Member{std::string(key.str()), (*this)(value)});
      members.back().second.node.where = fmt::format("{}:{}", file_, at.line);
    }
    // In the order of the file, which is the order in which problems are best read.
    std::ranges::sort(members, std::less{}, [](const auto& member) { return member.first; });
    Node::Table table;
    for (auto& [at, member] : members) table.push_back(std::move(member));
    return table;
  }

  std::string_view file_;
};

std::string shorten(std::string text) {
  constexpr size_t shown = 60;
  if (text.size() <= shown) return text;
  text.resize(shown);
  return text + "...";
}

}  // namespace

std::string Problem::text() const {
  if (key.empty()) return fmt::format("{}: {}", where, message);
  return fmt::format("{}: {} {}", where, key, message);
}

std::string Node::shown() const {
  struct Show {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return quote(shorten(text)); }
    std::string operator()(const Untyped& untyped) const { return quote(shorten(untyped.text)); }
    std::string operator()(Unusable) const { return "a date or time"; }
    std::string operator()(const List&) const { return "a list"; }
    std::string operator()(const Table&) const { return "a table"; }
  };
  return std::visit(Show{}, value);
}

Result<Node, Problem> parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > max_text)
    return Problem{std::string(file), "", "is larger than 1 MiB; a configuration must be smaller"};
  try {
    return Converter(file)(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    return Problem{fmt::format("{}:{}", file, error.source().begin.line), "",
                   fmt::format("invalid TOML: {}", error.description())};
  }
}

std::string quote(std::string_view text) {
  std::string quoted;
  json::Writer(quoted).string(text);
  // TOML's strings are JSON's but for this one control character.
  for (size_t at = 0; (at = quoted.find('\x7f', at)) != std::string::npos;) quoted.replace(at, 1, "\\u007f");
  return quoted;
}

}  // namespace sluice::config
