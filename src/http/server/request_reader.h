// The reading half of a connection: bytes into heads and bodies, within their limits and their time. Internal to the
// server.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "http/server/exchange.h"
#include "http/server/input_buffer.h"
#include "http/server/place.h"
#include "http/server/timed_stream.h"

namespace sluice::http {

// Belongs to one connection, whose stream, exchange and place outlive it. As a BodySource it gives a streamed body to
// the handler, and fails with BodyFailed when the client does.
template <class Stream>
class RequestReader final : public BodySource {
 public:
  using Error = boost::system::error_code;

  RequestReader(ThreadState& thread, IdleConnection& connection, TimedStream<Stream>& stream, Exchange& exchange,
                Place& place)
      : thread_(thread),
        connection_(connection),
        config_(thread.server.config),
        stream_(stream),
        exchange_(exchange),
        place_(place),
        parser_(
            {.head_bytes = config_.max_head, .target_bytes = config_.max_target, .header_count = config_.max_headers}),
        share_(thread.server.body_memory) {}

  RequestParser& parser() { return parser_; }
  InputBuffer& input() { return input_; }
  // Bytes behind the current request have come already.
  bool has_more() const { return !input_.empty(); }

  // Parses the received bytes. True if a head is complete or has failed.
  bool parse_head();
  // Awaitable; then `take` says whether it is worth going on: not at the end, and not on failure. Whether it was in
  // time is for the caller to see.
  auto read_some(Error& failed) { return stream_.read_some(input_.room(), failed); }
  bool take(size_t got, const Error& failed) {
    input_.add(got);
    return !failed && got > 0 && !stream_.aborted();
  }

  // Between a head and its body.
  void begin_body() {
    parser_.limit_body(exchange_.body_limit());
    body_bytes_ = 0;
    body_waited_ = {};
  }
  // Takes the received bytes. True if the body is complete, as usual for short bodies, which arrive with their heads.
  bool parse_body() {
    input_.use(parser_.parse(input_.unread(), exchange_.request().body));
    return parser_.state() == RequestParser::State::done;
  }
  // Reads the rest of the body into the request, or returns the problem.
  Task<std::optional<Problem>> read_body();
  // The body is no longer needed. The memory of a large one is not kept for the next request, which may never come.
  void end_body() {
    std::string& body = exchange_.request().body;
    if (body.capacity() > kept_body) body = {};
    share_.give_back();
  }
  Task<std::optional<std::string>> next() override;

 private:
  static constexpr size_t kept_body = 16 << 10;

  // Bounded: only framing may be left unparsed (a chunk's head, trailers), and none that we accept is this long.
  bool is_framing_too_long() const { return input_.unread().size() > config_.max_head; }
  Task<> continue_if_expected();
  bool make_room(std::string& body, bool is_first);
  void wait_for_body();
  bool take_body(size_t got, const Error& failed);

  ThreadState& thread_;
  IdleConnection& connection_;
  const ServerConfig& config_;
  TimedStream<Stream>& stream_;
  Exchange& exchange_;
  Place& place_;
  RequestParser parser_;
  InputBuffer input_;
  uint64_t body_bytes_ = 0;  // read so far
  Duration body_waited_{};   // for the client to send them
  Duration waits_since_{};   // by the wheel, so that time in which the thread stood still does not count
  BodyMemory::Share share_;
};

template <class Stream>
bool RequestReader<Stream>::parse_head() {
  // Some clients send an empty line after a body (RFC 9112 2.2).
  while (!parser_.started() && input_.unread().starts_with("\r\n")) input_.use(2);
  if (input_.empty() || (!parser_.started() && input_.unread() == "\r")) return false;
  input_.use(parser_.parse(input_.unread(), exchange_.request().body));
  return parser_.state() != RequestParser::State::head;
}

// A handler that is slow to take a streamed body makes the client wait; that time is not the client's.
template <class Stream>
void RequestReader<Stream>::wait_for_body() {
  const auto earned = std::chrono::seconds(body_bytes_ / std::max<size_t>(1, config_.min_body_rate));
  const Duration left = config_.body_timeout + earned - body_waited_;
  waits_since_ = thread_.wheel.passed();
  stream_.wait_for(Wait::body, std::clamp(left, Duration{1}, config_.body_idle_timeout));
}

template <class Stream>
bool RequestReader<Stream>::take_body(size_t got, const Error& failed) {
  body_waited_ += thread_.wheel.passed() - waits_since_;
  return take(got, failed) && !stream_.is_late();
}

// The share grows with the received bytes, so an announced length takes nothing from other bodies. A body whose
// announced length does not fit now is refused before it is read.
template <class Stream>
bool RequestReader<Stream>::make_room(std::string& body, bool is_first) {
  constexpr size_t first_share = 2 * InputBuffer::first_size;
  const RequestHead& head = parser_.head();
  const size_t to_come = head.chunked ? input_.capacity() : head.content_length - body.size();
  if (is_first && !head.chunked && !share_.could_grow_to(head.content_length)) return false;
  if (body.capacity() - body.size() >= std::min(to_come, input_.capacity())) return true;
  size_t wanted = std::max(first_share, 2 * body.capacity());
  if (!head.chunked) wanted = std::min<size_t>(wanted, head.content_length);
  if (!share_.grow_to(wanted)) return false;
  body.reserve(wanted);
  return true;
}

template <class Stream>
Task<> RequestReader<Stream>::continue_if_expected() {
  if (!parser_.head().expects_continue || has_more() || parser_.head().http_1_0) co_return;
  co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n");
}

template <class Stream>
Task<std::optional<Problem>> RequestReader<Stream>::read_body() {
  std::string& body = exchange_.request().body;
  bool is_first = true;
  while (parser_.state() == RequestParser::State::body) {
    if (is_framing_too_long()) co_return problem_of(ParseError::malformed);
    if (!make_room(body, is_first)) co_return body_memory_used_up();
    if (std::exchange(is_first, false)) co_await continue_if_expected();
    body_bytes_ = body.size();
    wait_for_body();
    thread_.receiving.push_back(connection_);
    Error failed;
    const size_t got = co_await read_some(failed);
    if (connection_.is_linked()) connection_.unlink();
    stream_.waited();
    if (!take_body(got, failed)) co_return request_timeout();
    parse_body();
  }
  if (parser_.state() == RequestParser::State::done) co_return std::nullopt;
  co_return problem_of(parser_.error());
}

template <class Stream>
Task<std::optional<std::string>> RequestReader<Stream>::next() {
  if (body_bytes_ == 0 && parser_.state() == RequestParser::State::body) co_await continue_if_expected();
  std::string piece;
  while (true) {
    if (parser_.state() == RequestParser::State::body) input_.use(parser_.parse(input_.unread(), piece));
    body_bytes_ += piece.size();
    if (!piece.empty()) co_return piece;
    if (parser_.state() == RequestParser::State::done) co_return std::nullopt;
    if (parser_.state() == RequestParser::State::failed) throw BodyFailed(problem_of(parser_.error()));
    if (is_framing_too_long()) throw BodyFailed(problem_of(ParseError::malformed));
    // The handler is not running meanwhile. A request that it has begun is not refused later.
    const bool had_place = place_.leave();
    wait_for_body();
    Error failed;
    const size_t got = co_await read_some(failed);
    if (had_place) place_.come_back();
    const bool came = take_body(got, failed);
    // A deadline that has passed meanwhile leaves no time, and that is not the same as no limit.
    const Duration left = exchange_.request().deadline.left(thread_.server.clock);
    stream_.wait_for_handler(std::max(Duration{1}, left), false);
    if (!came) throw BodyFailed(request_timeout());
  }
}

}  // namespace sluice::http
