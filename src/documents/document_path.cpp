#include "documents/document_path.h"

#include <algorithm>

namespace sluice::documents {
namespace {

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool is_segment(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && std::ranges::all_of(text, allowed);
}

// A segment that begins with dots goes on.
constexpr std::string_view path_pattern =
    R"(^([A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*(/([A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*)*$)";
constexpr std::string_view segment_pattern = R"(^([A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]*$)";

}  // namespace

const json::TextForm document_path_form{path_pattern,
                                        [](std::string_view text) { return DocumentPath::parse(text).has_value(); },
                                        "must be relative, of [A-Za-z0-9._/-], without empty, . or .. segments"};
const json::TextForm document_segment_form{segment_pattern, is_segment,
                                           "must be of [A-Za-z0-9._-], and neither . nor .."};

std::optional<DocumentPath> DocumentPath::parse(std::string_view text) {
  if (text.empty() || text.size() > longest) return std::nullopt;
  std::string_view rest = text;
  while (true) {
    const size_t end = std::min(rest.find('/'), rest.size());
    if (!is_segment(rest.substr(0, end))) return std::nullopt;
    if (end == rest.size()) return DocumentPath(std::string(text));
    rest.remove_prefix(end + 1);
  }
}

bool matches_glob(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**")) {
    for (size_t taken = 0; taken <= path.size(); ++taken) {
      if (matches_glob(pattern.substr(2), path.substr(taken))) return true;
    }
    return false;
  }
  if (pattern.front() == '*') {
    for (size_t taken = 0; taken <= path.size(); ++taken) {
      if (matches_glob(pattern.substr(1), path.substr(taken))) return true;
      if (taken < path.size() && path[taken] == '/') break;
    }
    return false;
  }
  if (path.empty()) return false;
  const bool same = pattern.front() == path.front() || (pattern.front() == '?' && path.front() != '/');
  return same && matches_glob(pattern.substr(1), path.substr(1));
}

}  // namespace sluice::documents
