#include "http/server/path.h"

#include "base/encoding.h"
#include "http/message.h"
#include "http/url.h"

namespace sluice::http {
namespace {

bool has_bad_segment(std::string_view path) {
  if (path == "/") return false;
  size_t start = 1;
  while (start <= path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view segment = path.substr(start, end - start);
    if (segment.empty() || segment == "." || segment == "..") return true;
    start = end + 1;
  }
  return false;
}

}  // namespace

std::optional<Target> split_target(std::string_view target) {
  if (!target.starts_with('/')) {
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    const std::string_view name = target.substr(0, scheme);
    if (!equal_ignoring_case(name, "http") && !equal_ignoring_case(name, "https")) return std::nullopt;
    const size_t path = target.find_first_of("/?", scheme + 3);
    if (path == scheme + 3) return std::nullopt;
    if (path == std::string_view::npos) return Target{.path = "/", .query = {}};
    if (target[path] == '?') return Target{.path = "/", .query = target.substr(path + 1)};
    target.remove_prefix(path);
  }
  if (target.contains('#')) return std::nullopt;
  const size_t question = target.find('?');
  if (question == std::string_view::npos) return Target{.path = target, .query = {}};
  return Target{.path = target.substr(0, question), .query = target.substr(question + 1)};
}

bool decode_path(std::string_view raw, std::string& out) {
  out.clear();
  if (!raw.starts_with('/')) return false;
  for (size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '%') {
      const int byte = escaped_byte(raw, i);
      if (byte < 0 || byte == '/') return false;
      c = static_cast<char>(byte);
      i += 2;
    }
    if (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    out += c;
  }
  return !has_bad_segment(out) && is_utf8(out);
}

bool is_decodable(std::string_view query) {
  for (size_t i = query.find('%'); i != std::string_view::npos; i = query.find('%', i + 1)) {
    if (escaped_byte(query, i) < 0) return false;
  }
  return true;
}

}  // namespace sluice::http
