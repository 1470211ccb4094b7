// An answer reads the same however it is cut into pieces, and never consumes more than there is.
#include "base/check.h"
#include "http/client/response_parser.h"

namespace {

using sluice::http::ResponseParser;
using Event = ResponseParser::Event;

struct Read {
  Event last = Event::need_more;
  int status = 0;
  std::string body;
  bool operator==(const Read&) const = default;
};

Read read(std::string_view bytes, size_t piece, bool to_head) {
  ResponseParser parser({.max_head = 512, .keep_headers = true});
  parser.start(to_head);
  Read result;
  std::string buffer;
  while (true) {
    const auto step = parser.next(buffer);
    sluice::check_that(step.consumed <= buffer.size(), "{} of {} consumed", step.consumed, buffer.size());
    result.body += step.piece;
    if (step.event == Event::head) result.status = parser.status();
    buffer.erase(0, step.consumed);
    result.last = step.event;
    if (step.event == Event::end || step.event == Event::bad || step.event == Event::too_large) return result;
    if (step.event != Event::need_more) continue;
    if (bytes.empty()) {
      result.last = parser.closed();
      return result;
    }
    buffer += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(bytes.size(), piece));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t piece = 1 + (data[0] & 0x3f);
  const bool to_head = (data[0] & 0x80) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read whole = read(bytes, bytes.size() + 1, to_head);
  const Read pieces = read(bytes, piece, to_head);
  sluice::check(whole == pieces, "the answer depends on how it was cut");
  return 0;
}
