// Heads of requests: no crash, the same result however the bytes are cut, and never more than the limits allow.
#include <cstdint>

#include "base/check.h"
#include "http/server/path.h"
#include "http/server/proxy_protocol.h"
#include "http/server/request_parser.h"

namespace {

using namespace sluice;
using State = http::RequestParser::State;

struct Outcome {
  State state;
  std::string text;
  size_t used;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// `cuts` gives the sizes of the pieces, again and again.
Outcome parse(std::string_view bytes, std::string_view cuts) {
  const http::ParserLimits limits{.head_bytes = 512, .target_bytes = 128, .header_count = 8};
  http::RequestParser parser(limits);
  std::string body;
  size_t used = 0;
  size_t seen = 0;
  for (size_t round = 0; parser.state() == State::head && seen < bytes.size(); ++round) {
    const size_t step = cuts.empty() ? bytes.size() : 1 + static_cast<uint8_t>(cuts[round % cuts.size()]);
    seen = std::min(bytes.size(), seen + step);
    used += parser.parse(bytes.substr(used, seen - used), body);
    check(used <= seen, "used more than it was given");
  }
  check(body.empty(), "a head has no body");
  Outcome outcome{.state = parser.state(), .text = {}, .used = used};
  if (outcome.state == State::head || outcome.state == State::failed) {
    outcome.used = 0;
    return outcome;
  }
  const http::RequestHead& head = parser.head();
  check(used <= limits.head_bytes && head.target.size() <= limits.target_bytes, "a limit was passed");
  check(head.headers.size() <= limits.header_count, "too many fields");
  check(!(head.chunked && head.content_length > 0), "two ways to end a body");
  outcome.text = head.target;
  for (const http::Headers::Field field : head.headers) {
    check(field.value.find_first_of("\r\n") == std::string_view::npos, "a field of two lines");
    outcome.text.append("\n").append(field.name).append(":").append(field.value);
  }
  return outcome;
}

void check_path(std::string_view target) {
  const auto split = http::split_target(target);
  std::string path;
  if (!split || !http::decode_path(split->path, path)) return;
  check(path.starts_with('/') && !path.contains("//") && !path.contains('\0'), "a path that is not clean");
  check(!(path + "/").contains("/../") && !(path + "/").contains("/./"), "a path with dots");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut_count = input.empty() ? 0 : static_cast<uint8_t>(input[0]) % 4;
  if (input.size() < 1 + cut_count) return 0;
  const std::string_view cuts = input.substr(1, cut_count);
  const std::string_view bytes = input.substr(1 + cut_count);
  const Outcome whole = parse(bytes, {});
  const Outcome pieces = parse(bytes, cuts);
  // A bad head may fail before or after its rest has arrived; accepted heads must be the same.
  if (whole.state != State::failed && pieces.state != State::failed)
    check(whole == pieces, "the cuts made a difference");
  check_path(bytes);
  const http::ProxyHeader proxy = http::read_proxy_header(bytes);
  check(proxy.size <= bytes.size(), "a PROXY header longer than the bytes");
  return 0;
}
