#include "http/message.h"

#include "base/ascii.h"
#include "base/check.h"
#include "http/url.h"

namespace sluice::http {
namespace {
constexpr std::array<std::pair<Method, std::string_view>, 7> methods{{{Method::get, "GET"},
                                                                      {Method::head, "HEAD"},
                                                                      {Method::post, "POST"},
                                                                      {Method::put, "PUT"},
                                                                      {Method::patch, "PATCH"},
                                                                      {Method::del, "DELETE"},
                                                                      {Method::options, "OPTIONS"}}};

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
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

void Headers::add(std::string_view name, std::string_view value) {
  if (text_.capacity() == 0) {
    text_.reserve(256);
    slots_.reserve(8);
  }
  slots_.push_back({.start = static_cast<uint32_t>(text_.size()),
                    .name_size = static_cast<uint32_t>(name.size()),
                    .value_size = static_cast<uint32_t>(value.size())});
  text_.append(name).append(value);
}

void Headers::set(std::string_view name, std::string_view value) {
  remove(name);
  add(name, value);
}

void Headers::remove(std::string_view name) {
  // The text of removed fields stays until clear: messages are short-lived.
  std::erase_if(slots_, [this, name](const Slot& slot) {
    return equal_ignoring_case(std::string_view(text_).substr(slot.start, slot.name_size), name);
  });
}

Headers::Field Headers::operator[](size_t i) const {
  const Slot& slot = slots_[i];
  const std::string_view text = text_;
  return {.name = text.substr(slot.start, slot.name_size),
          .value = text.substr(slot.start + slot.name_size, slot.value_size)};
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const Slot& slot : slots_) {
    if (slot.name_size != name.size()) continue;
    const std::string_view text = text_;
    if (equal_ignoring_case(text.substr(slot.start, slot.name_size), name)) {
      return text.substr(slot.start + slot.name_size, slot.value_size);
    }
  }
  return std::nullopt;
}

void Headers::clear() {
  text_.clear();
  slots_.clear();
}

const std::string& Request::param(std::string_view wanted) const {
  const auto found = std::ranges::find(params, wanted, &PathParam::name);
  check_that(found != params.end(), "the route has no parameter {}", wanted);
  return found->value;
}

std::optional<std::string> Request::query_param(std::string_view wanted) const {
  for (auto& [key, value] : query_params()) {
    if (key == wanted) return std::move(value);
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Request::query_params() const {
  return parse_query(query).value_or(std::vector<std::pair<std::string, std::string>>{});
}

Response Response::text(int status, std::string body, std::string content_type) {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", content_type);
  return response;
}

Response Response::json(int status, std::string body) {
  return text(status, std::move(body), "application/json");
}

const std::string* whole_body(const Response& response) {
  if (const auto* own = std::get_if<std::string>(&response.body)) return own;
  if (const auto* shared = std::get_if<SharedBytes>(&response.body)) return shared->get();
  return nullptr;
}

}  // namespace sluice::http
