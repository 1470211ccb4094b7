// What lists have in common: filters, the size of a page and where it begins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sluice::api {

inline constexpr std::string_view page_size_schema = R"({"type":"integer","minimum":1,"maximum":500,"default":50})";

// The query parameter where it is there and not empty.
std::optional<std::string> filter(const http::Request& request, std::string_view name);

// `limit`, or its default; nothing where it cannot be.
std::optional<size_t> page_size(const http::Request& request);

// 422, naming the parameter.
http::Response bad_query(const http::Request& request, std::string_view name, std::string detail);
http::Response bad_page_size(const http::Request& request);
http::Response bad_cursor(const http::Request& request);

}  // namespace sluice::api
