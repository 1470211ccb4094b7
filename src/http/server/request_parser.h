// Bytes from a client, turned into a request: strictly, and within limits.
//
// Forms that two programs could read differently are refused: folded lines, Content-Length beside Transfer-Encoding or
// more than once, codings other than chunked, a missing, doubled or malformed Host, a second Authorization. The state
// machine is Beast's; nothing of it shows here.
//
// Given the buffered bytes, it returns how many it used. Unused bytes must be given again, followed by more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sluice::http {

struct ParserLimits {
  size_t head_bytes = 16 << 10;
  size_t target_bytes = 8 << 10;
  size_t header_count = 100;
};

struct RequestHead {
  std::optional<Method> method;  // nothing where we do not know it
  std::string target;
  Headers headers;
  bool http_1_0 = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool chunked = false;
  uint64_t content_length = 0;

  bool has_body() const { return chunked || content_length > 0; }
};

enum class ParseError { malformed, target_too_long, head_too_large, too_many_headers, body_too_large, unknown_coding };

// Belongs to one connection; reused for every request on it.
class RequestParser {
 public:
  enum class State { head, body, done, failed };

  explicit RequestParser(ParserLimits limits);
  ~RequestParser();

  // Begins a new request.
  void reset();

  // Parses at most to the end of the head while in `head`, and on to the end of the request while in `body`. Body bytes
  // are appended to `body`. Returns how many bytes of `input` were used.
  size_t parse(std::string_view input, std::string& body);

  // Bounds the body; called between head and body. More than that fails with body_too_large.
  void limit_body(uint64_t bytes);

  State state() const;
  ParseError error() const;  // while failed
  bool started() const;      // has seen a byte of this request
  const RequestHead& head() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace sluice::http
