#include "http/server/router.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/id.h"
#include "http/server/server_metrics.h"

namespace sluice::http {

// In the order of preference among parameters.
enum class Kind { uuid, integer, any, rest, literal };

struct Router::Segment {
  Kind kind;
  std::string text;  // the literal, or the parameter's name
};

struct Router::Node {
  std::vector<std::pair<std::string, std::unique_ptr<Node>>> literals;  // sorted
  std::array<std::unique_ptr<Node>, 4> parameters;                      // by Kind
  // Per method: the route that ends here, and its names for the parameters on the way.
  std::array<const Route*, 7> routes{};
  std::array<std::vector<std::string>, 7> names;

  Node& literal(const std::string& text) {
    const auto at =
        std::ranges::lower_bound(literals, text, {}, [](const auto& entry) { return std::string_view(entry.first); });
    if (at != literals.end() && at->first == text) return *at->second;
    return *literals.emplace(at, text, std::make_unique<Node>())->second;
  }
  Node& parameter(Kind kind) {
    auto& node = parameters[static_cast<size_t>(kind)];
    if (!node) node = std::make_unique<Node>();
    return *node;
  }
  const Route* route_of(Method method) const { return routes[static_cast<size_t>(method)]; }
  bool ends() const {
    return std::ranges::any_of(routes, [](const Route* route) { return route != nullptr; });
  }
};

namespace {

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= 18 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool fits(Kind kind, std::string_view segment) {
  switch (kind) {
    case Kind::uuid: return Uuid::parse(segment).has_value();
    case Kind::integer: return is_integer(segment);
    case Kind::any: return true;
    case Kind::rest:
    case Kind::literal: break;
  }
  return false;
}

// Walks down; `values` gets the parameters' segments. Depth is bounded by the longest pattern.
template <class Node>
const Node* find(const Node& node, std::string_view rest, std::vector<std::string_view>& values) {
  if (rest.empty()) return node.ends() ? &node : nullptr;
  const size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, end);
  const std::string_view after = rest.substr(std::min(end + 1, rest.size()));

  const auto literal = std::ranges::lower_bound(node.literals, segment, {},
                                                [](const auto& entry) { return std::string_view(entry.first); });
  if (literal != node.literals.end() && literal->first == segment) {
    if (const Node* found = find(*literal->second, after, values)) return found;
  }
  for (const Kind kind : {Kind::uuid, Kind::integer, Kind::any}) {
    const auto& child = node.parameters[static_cast<size_t>(kind)];
    if (!child || !fits(kind, segment)) continue;
    values.push_back(segment);
    if (const Node* found = find(*child, after, values)) return found;
    values.pop_back();
  }
  const auto& tail = node.parameters[static_cast<size_t>(Kind::rest)];
  if (!tail) return nullptr;
  values.push_back(rest);
  return tail.get();
}

}  // namespace

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

std::vector<Router::Segment> Router::parse(std::string_view pattern) {
  check_that(pattern.starts_with('/'), "route {} must begin with a slash", pattern);
  std::vector<Segment> segments;
  std::string_view rest = pattern.substr(1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    check_that(!text.empty(), "route {} has an empty segment", pattern);
    if (!text.starts_with('{')) {
      segments.push_back({Kind::literal, std::string(text)});
      continue;
    }
    check_that(text.ends_with('}') && text.size() > 2, "route {} has a malformed parameter", pattern);
    text = text.substr(1, text.size() - 2);
    if (text.ends_with("...")) {
      check_that(rest.empty(), "route {} has segments after its rest parameter", pattern);
      segments.push_back({Kind::rest, std::string(text.substr(0, text.size() - 3))});
      continue;
    }
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view type = text.substr(std::min(colon + 1, text.size()));
    check_that(type.empty() || type == "uuid" || type == "int", "route {} has a parameter of unknown type {}", pattern,
               type);
    const Kind kind = type == "uuid" ? Kind::uuid : type == "int" ? Kind::integer : Kind::any;
    segments.push_back({kind, std::string(text.substr(0, colon))});
  }
  return segments;
}

void Router::add(Method method, std::string_view pattern, Handler handler, RouteOptions options) {
  Node* node = root_.get();
  std::vector<std::string> names;
  for (Segment& segment : parse(pattern)) {
    if (segment.kind == Kind::literal) {
      node = &node->literal(segment.text);
    } else {
      node = &node->parameter(segment.kind);
      names.push_back(std::move(segment.text));
    }
  }
  const auto index = static_cast<size_t>(method);
  check_that(node->routes[index] == nullptr, "route {} {} is added twice", name(method), pattern);

  std::string label = options.label.empty() ? std::string(pattern) : options.label;
  routes_.push_back(std::make_unique<Route>(Route{.method = method,
                                                  .pattern = std::string(pattern),
                                                  .handler = std::move(handler),
                                                  .options = std::move(options),
                                                  .metrics = std::make_shared<RouteMetrics>(name(method), label)}));
  node->routes[index] = routes_.back().get();
  node->names[index] = std::move(names);
}

Router::Match Router::match(std::optional<Method> method, std::string_view path, std::vector<PathParam>& params) const {
  thread_local std::vector<std::string_view> values;
  values.clear();
  params.clear();
  const Node* node = find(*root_, path.substr(1), values);
  if (node == nullptr) return {};

  if (method == Method::head && node->route_of(Method::head) == nullptr) method = Method::get;
  if (const Route* const route = method ? node->route_of(*method) : nullptr) {
    const std::vector<std::string>& names = node->names[static_cast<size_t>(*method)];
    for (size_t i = 0; i < values.size(); ++i) params.push_back({names[i], std::string(values[i])});
    return {.route = route, .allowed = {}};
  }
  Match result;
  for (size_t i = 0; i < node->routes.size(); ++i) {
    if (node->routes[i] != nullptr) result.allowed.push_back(static_cast<Method>(i));
  }
  if (node->route_of(Method::get) != nullptr && node->route_of(Method::head) == nullptr) {
    result.allowed.push_back(Method::head);
  }
  return result;
}

}  // namespace sluice::http
