#include "documents/document_path.h"

#include <algorithm>
#include <vector>

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

const json::TextForm document_path_form{
    path_pattern, [](std::string_view text) { return DocumentPath::parse(text).has_value(); },
    "must be relative, consist of [A-Za-z0-9._/-] and have no empty, . or .. segments"};
const json::TextForm document_segment_form{segment_pattern, is_segment,
                                           "must consist of [A-Za-z0-9._-] and be neither . nor .."};

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

// Keeps where a match of the pattern so far may end, instead of trying every rest for each star: the work is the
// product of both lengths for every path.
bool matches_glob(std::string_view pattern, std::string_view path) {
  std::vector<bool> ends(path.size() + 1);
  ends[0] = true;
  while (!pattern.empty()) {
    const bool across = pattern.starts_with("**");
    const char wanted = pattern.front();
    pattern.remove_prefix(across ? 2 : 1);
    if (wanted == '*') {
      for (size_t i = 0; i < path.size(); ++i) ends[i + 1] = ends[i + 1] || (ends[i] && (across || path[i] != '/'));
      continue;
    }
    for (size_t i = path.size(); i-- > 0;) {
      ends[i + 1] = ends[i] && (path[i] == wanted || (wanted == '?' && path[i] != '/'));
    }
    ends[0] = false;
  }
  return ends.back();
}

}  // namespace sluice::documents
