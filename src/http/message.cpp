#include "http/message.h"

#include "base/check.h"

namespace sluice::http {
namespace {
constexpr std::array<std::pair<Method, std::string_view>, 7> methods{{{Method::get, "GET"},
                                                                      {Method::head, "HEAD"},
                                                                      {Method::post, "POST"},
                                                                      {Method::put, "PUT"},
                                                                      {Method::patch, "PATCH"},
                                                                      {Method::del, "DELETE"},
                                                                      {Method::options, "OPTIONS"}}};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
}  // namespace

std::string_view name(Method method) {
  return methods[static_cast<size_t>(method)].second;
}

std::optional<Method> parse_method(std::string_view text) {
  for (const auto& [method, method_name] : methods) {
    if (method_name == text) return method;
  }
  return std::nullopt;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::set(std::string name, std::string value) {
  remove(name);
  add(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [name](const Field& field) { return equal_ignoring_case(field.name, name); });
}

const std::string* Headers::find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (equal_ignoring_case(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string_view{} : *value;
}

const std::string& Request::param(std::string_view wanted) const {
  const auto found = std::ranges::find(params, wanted, &PathParam::name);
  check_that(found != params.end(), "the route has no parameter {}", wanted);
  return found->value;
}

Response Response::text(int status, std::string body, std::string content_type) {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", std::move(content_type));
  return response;
}

Response Response::json(int status, std::string body) {
  return text(status, std::move(body), "application/json");
}

}  // namespace sluice::http
