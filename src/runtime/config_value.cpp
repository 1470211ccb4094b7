#include "runtime/config_value.h"

#include <cmath>

namespace sluice::config {
namespace {

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
