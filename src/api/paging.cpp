#include "api/paging.h"

#include <charconv>

#include <fmt/format.h>

#include "api/problems.h"

namespace sluice::api {
namespace {

constexpr size_t default_page = 50;
constexpr size_t largest_page = 500;

}  // namespace

std::optional<std::string> filter(const http::Request& request, std::string_view name) {
  auto value = request.query_param(name);
  if (value && value->empty()) value.reset();
  return value;
}

std::optional<size_t> page_size(const http::Request& request) {
  const auto text = filter(request, "limit");
  if (!text) return default_page;
  size_t size = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), size);
  if (error != std::errc{} || end != text->data() + text->size() || size < 1 || size > largest_page) return {};
  return size;
}

http::Response bad_query(const http::Request& request, std::string_view name, std::string detail) {
  return undecodable(request, {json::DecodeError::Kind::invalid, std::string(name), std::move(detail)});
}

http::Response bad_page_size(const http::Request& request) {
  return bad_query(request, "limit", fmt::format("must be from 1 to {}", largest_page));
}

http::Response bad_cursor(const http::Request& request) {
  return bad_query(request, "cursor", "must be what the page before said");
}

}  // namespace sluice::api
