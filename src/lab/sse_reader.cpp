#include "lab/sse_share.h"

namespace sluice::lab {
namespace {
constexpr size_t longest_field = 1024;  // of a line only its beginning matters here
}

SseReader::Seen SseReader::read(std::string_view piece) {
  Seen seen;
  for (const char c : piece) {
    const bool second_half = c == '\n' && after_return_;
    after_return_ = c == '\r';
    if (second_half) continue;
    if (c == '\n' || c == '\r') {
      end_line(seen);
    } else if (line_.size() < longest_field) {
      line_.push_back(c);
    }
  }
  return seen;
}

void SseReader::end_line(Seen& seen) {
  if (line_.empty()) {
    if (has_data_) ++seen.events;
    last_id_ = id_;
    has_data_ = false;
  } else if (line_.starts_with(':')) {
    ++seen.comments;
  } else if (line_.starts_with("data:") || line_ == "data") {
    has_data_ = true;
  } else if (line_.starts_with("id:")) {
    id_ = line_.substr(line_.starts_with("id: ") ? 4 : 3);
  }
  line_.clear();
}

}  // namespace sluice::lab
