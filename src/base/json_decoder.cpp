#include "base/json_decoder.h"

#include <fmt/format.h>

namespace sluice::json {
namespace {

// A key is the client's text: a path in an answer or a log line stays short whatever it was.
constexpr size_t max_shown = 100;

}  // namespace

std::string DecodeError::text() const {
  return fmt::format("{} {}", path.empty() ? "the document" : path, message);
}

bool Decoder::fail(DecodeError::Kind kind, std::string message) {
  error_ = {.kind = kind, .path = {}, .message = std::move(message)};
  return false;
}

bool Decoder::inside(std::string_view key) {
  size_t shown = std::min(key.size(), max_shown);
  while (shown < key.size() && shown > 0 && (key[shown] & 0xc0) == 0x80) --shown;  // not within a character
  prepend(std::string(key.substr(0, shown)));
  return false;
}

bool Decoder::inside(size_t index) {
  prepend(fmt::format("[{}]", index));
  return false;
}

void Decoder::prepend(std::string segment) {
  const bool dot = !error_.path.empty() && !error_.path.starts_with('[');
  error_.path = segment + (dot ? "." : "") + error_.path;
}

}  // namespace sluice::json
