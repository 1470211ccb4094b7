// The target of a request, taken apart and cleaned.
//
// A path is decoded once and has one meaning: forms that other programs could read differently (dot segments, doubled
// or encoded slashes, backslashes, NUL, broken UTF-8) are refused, not repaired.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

struct Target {
  std::string_view path;   // raw, begins with '/'
  std::string_view query;  // raw, without the question mark
};

// Origin form ("/a?b") and absolute form ("http://host/a?b"). Nothing for anything else, a fragment included.
std::optional<Target> split_target(std::string_view target);

// Writes the decoded path to `out`; false if the path is malformed.
bool decode_path(std::string_view raw, std::string& out);

// Whether every percent sign begins an escape; a malformed query is refused before its handler runs.
bool is_decodable(std::string_view query);

}  // namespace sluice::http
