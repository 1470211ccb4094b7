// URLs: percent-encoding and query strings, strictly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

// Nothing where a percent sign is not followed by two hexadecimal digits. `plus_is_space` for query strings.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

// Encodes everything outside RFC 3986's unreserved characters and `keep`.
std::string percent_encode(std::string_view text, std::string_view keep = "");

// "a=1&b=x%20y" in order; nothing where it is not decodable.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace sluice::http
