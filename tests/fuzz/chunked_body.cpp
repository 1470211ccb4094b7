// Chunked bodies: no crash, the same bytes however they are cut, and never more than the limit.
#include <cstdint>

#include "base/check.h"
#include "http/server/request_parser.h"

namespace {

using namespace sluice;
using State = http::RequestParser::State;

constexpr std::string_view head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr size_t limit = 4096;

struct Outcome {
  State state;
  std::string body;
  size_t used;
};

Outcome parse(std::string_view bytes, std::string_view cuts) {
  http::RequestParser parser({});
  Outcome outcome{.state = State::head, .body = {}, .used = 0};
  const size_t head_used = parser.parse(head, outcome.body);
  check(head_used == head.size() && parser.state() == State::body, "the head is complete");
  parser.limit_body(limit);
  size_t seen = 0;
  for (size_t round = 0; parser.state() == State::body && seen < bytes.size(); ++round) {
    const size_t step = cuts.empty() ? bytes.size() : 1 + static_cast<uint8_t>(cuts[round % cuts.size()]);
    seen = std::min(bytes.size(), seen + step);
    outcome.used += parser.parse(bytes.substr(outcome.used, seen - outcome.used), outcome.body);
    check(outcome.used <= seen, "used more than it was given");
    check(outcome.body.size() <= limit, "the limit was passed");
  }
  outcome.state = parser.state();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut_count = input.empty() ? 0 : static_cast<uint8_t>(input[0]) % 4;
  if (input.size() < 1 + cut_count) return 0;
  const std::string_view bytes = input.substr(1 + cut_count);
  const Outcome whole = parse(bytes, {});
  const Outcome pieces = parse(bytes, input.substr(1, cut_count));
  check((whole.state == State::done) == (pieces.state == State::done), "the cuts made a difference");
  if (whole.state != State::done) return 0;
  check(whole.body == pieces.body && whole.used == pieces.used, "the cuts made another body");
  return 0;
}
