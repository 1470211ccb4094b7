#include "runtime/config_value.h"

#include <algorithm>
#include <cmath>

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

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; !text.empty() && from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
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

std::optional<bool> Kind<bool>::read(const Node& node) {
  if (const auto* value = node.get<bool>()) return *value;
  const auto* untyped = node.get<Untyped>();
  if (untyped != nullptr && untyped->text == "true") return true;
  if (untyped != nullptr && untyped->text == "false") return false;
  return std::nullopt;
}

std::optional<double> Kind<double>::read(const Node& node) {
  std::optional<double> number;
  if (const auto* value = node.get<double>()) number = *value;
  if (const auto* value = node.get<int64_t>()) number = static_cast<double>(*value);
  if (const auto* untyped = node.get<Untyped>()) number = parse_number<double>(untyped->text);
  if (number && !std::isfinite(*number)) return std::nullopt;
  return number;
}

std::string Kind<double>::print(double value) {
  std::string text = fmt::format("{}", value);
  // Without a point or an exponent TOML would take it for an integer.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<int64_t> read_integer(const Node& node) {
  if (const auto* value = node.get<int64_t>()) return *value;
  if (const auto* untyped = node.get<Untyped>()) return parse_number<int64_t>(untyped->text);
  return std::nullopt;
}

std::optional<std::string> Kind<std::string>::read(const Node& node) {
  if (const auto* value = node.get<std::string>()) return *value;
  if (const auto* untyped = node.get<Untyped>()) return untyped->text;
  return std::nullopt;
}

std::optional<Duration> Kind<Duration>::read(const Node& node) {
  const auto text = Kind<std::string>::read(node);
  return text ? parse_duration(*text) : std::nullopt;
}

std::optional<Size> Kind<Size>::read(const Node& node) {
  const auto text = Kind<std::string>::read(node);
  return text ? parse_size(*text) : std::nullopt;
}

std::optional<std::vector<std::string>> Kind<std::vector<std::string>>::read(const Node& node) {
  if (const auto* untyped = node.get<Untyped>()) return split(untyped->text);
  const auto* list = node.get<Node::List>();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Node& item : *list) {
    const auto* text = item.get<std::string>();
    if (text == nullptr) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

std::string Kind<std::vector<std::string>>::print(const std::vector<std::string>& value) {
  std::string text = "[";
  for (const auto& item : value) {
    if (text.size() > 1) text += ", ";
    text += quote(item);
  }
  return text + "]";
}

}  // namespace sluice::config
