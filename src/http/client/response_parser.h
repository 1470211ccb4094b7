// Reads HTTP/1 answers out of bytes as they arrive.
//
// Strict, because a lenient reader of a reused connection takes the rest of one answer for the next: two lengths that
// differ, a length beside chunks, folded lines, bare line feeds and unknown transfer codings are refused.
//
//   while (true) {
//     const auto step = parser.next(bytes);
//     bytes.remove_prefix(step.consumed);
//     switch (step.event) { ... }
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sluice::http {

// Stores no bytes of the body: pieces refer to the given buffer.
class ResponseParser {
 public:
  struct Options {
    size_t max_head = 64 * 1024;  // of the head, and again of the trailers
    bool keep_headers = true;     // a load generator has no use for them
  };
  enum class Event {
    need_more,  // give the unused bytes again, followed by more
    interim,    // a 1xx answer was skipped
    head,       // status() and headers() are complete
    body,       // `piece` of the body
    end,        // the answer is complete; unused bytes are unexpected
    bad,        // no valid answer; problem() says why
    too_large,  // the head is over its limit
  };
  struct Step {
    Event event = Event::need_more;
    size_t consumed = 0;
    std::string_view piece{};
  };

  ResponseParser() = default;
  explicit ResponseParser(Options options) : options_(options) {}

  // Begins the next answer. One to a HEAD request has no body, regardless of its headers.
  void start(bool to_head_request);

  Step next(std::string_view bytes);

  // The peer has closed: `end` where that is how this answer ends, else `bad`.
  Event closed();

  int status() const { return status_; }
  Headers& headers() { return headers_; }
  const Headers& headers() const { return headers_; }
  // The declared length of the body, where one is declared.
  std::optional<uint64_t> content_length() const { return content_length_; }
  // Whether the connection can carry another exchange after this one.
  bool keep_alive() const { return keep_alive_ && state_ != State::until_close; }
  std::string_view problem() const { return problem_; }

 private:
  enum class State { head, sized, chunk_size, chunk, chunk_end, trailers, until_close, done, failed };

  Step read_head(std::string_view bytes);
  Step read_sized(std::string_view bytes);
  Step read_chunk_size(std::string_view bytes);
  Step read_chunk_end(std::string_view bytes);
  Step read_trailers(std::string_view bytes);
  bool parse_head(std::string_view head);
  bool parse_status_line(std::string_view line);
  bool parse_field(std::string_view line);
  bool take_framing(std::string_view name, std::string_view value);
  bool choose_body();
  bool fail(std::string_view problem);
  Step failure(Event event = Event::bad);

  Options options_;
  State state_ = State::head;
  bool to_head_request_ = false;
  bool http_1_0_ = false;
  bool chunked_ = false;
  bool keep_alive_ = true;
  bool asked_keep_alive_ = false;
  int status_ = 0;
  int interim_ = 0;
  size_t scanned_ = 0;        // bytes of the head already searched for its end
  size_t trailer_bytes_ = 0;  // so far
  uint64_t left_ = 0;         // of the body, or of the chunk
  std::optional<uint64_t> content_length_;
  Headers headers_;
  std::string_view problem_;
};

}  // namespace sluice::http
