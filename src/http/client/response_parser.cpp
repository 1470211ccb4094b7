#include "http/client/response_parser.h"

#include <charconv>

#include "http/syntax.h"

namespace sluice::http {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr size_t max_chunk_line = 1024;  // the size, and extensions, which are ignored
constexpr int max_interim = 16;

// The size of the part that ends with `mark`: exact if the mark was found, else the least it can be.
size_t at_least(size_t found, std::string_view bytes, std::string_view mark) {
  if (found != std::string_view::npos) return found;
  return bytes.size() < mark.size() ? 0 : bytes.size() - mark.size() + 1;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void ResponseParser::start(bool to_head_request) {
  const Options options = options_;
  Headers headers = std::move(headers_);  // keeps its memory
  headers.clear();
  *this = ResponseParser(options);
  headers_ = std::move(headers);
  to_head_request_ = to_head_request;
}

ResponseParser::Step ResponseParser::next(std::string_view bytes) {
  switch (state_) {
    case State::head: return read_head(bytes);
    case State::sized:
    case State::chunk: return read_sized(bytes);
    case State::chunk_size: return read_chunk_size(bytes);
    case State::chunk_end: return read_chunk_end(bytes);
    case State::trailers: return read_trailers(bytes);
    case State::until_close:
      if (bytes.empty()) return {};
      return {.event = Event::body, .consumed = bytes.size(), .piece = bytes};
    case State::done: return {.event = Event::end};
    case State::failed: break;
  }
  return failure();
}

ResponseParser::Event ResponseParser::closed() {
  if (state_ == State::done) return Event::end;
  if (state_ == State::until_close) {
    keep_alive_ = false;
    state_ = State::done;
    return Event::end;
  }
  fail("the connection was closed in the middle of the response");
  return failure().event;
}

ResponseParser::Step ResponseParser::read_head(std::string_view bytes) {
  const size_t end = bytes.find(head_end, scanned_ < 3 ? 0 : scanned_ - 3);
  if (at_least(end, bytes, head_end) > options_.max_head) {
    fail("the head of the response is too large");
    return failure(Event::too_large);
  }
  if (end == std::string_view::npos) {
    scanned_ = bytes.size();
    return {};
  }
  scanned_ = 0;
  if (!parse_head(bytes.substr(0, end))) return failure();
  const size_t consumed = end + 4;
  if (status_ < 200) {
    if (status_ == 101 || ++interim_ > max_interim) {
      fail("unexpected interim response");
      return failure();
    }
    headers_.clear();
    return {.event = Event::interim, .consumed = consumed};
  }
  if (!choose_body()) return failure();
  return {.event = Event::head, .consumed = consumed};
}

ResponseParser::Step ResponseParser::read_sized(std::string_view bytes) {
  if (bytes.empty()) return {};
  const std::string_view piece = bytes.substr(0, left_);
  left_ -= piece.size();
  if (left_ == 0) state_ = state_ == State::chunk ? State::chunk_end : State::done;
  return {.event = Event::body, .consumed = piece.size(), .piece = piece};
}

ResponseParser::Step ResponseParser::read_chunk_size(std::string_view bytes) {
  const size_t end = bytes.find(line_end);
  if (at_least(end, bytes, line_end) > max_chunk_line) {
    fail("a chunk's size line is too long");
    return failure();
  }
  if (end == std::string_view::npos) return {};
  const std::string_view line = bytes.substr(0, end);
  const std::string_view digits = trim(line.substr(0, line.find(';')));
  const auto size = parse_number<uint64_t>(digits, 16);
  if (!size || !is_field_value(line)) {
    fail("a chunk's size is not a number");
    return failure();
  }
  left_ = *size;
  state_ = left_ == 0 ? State::trailers : State::chunk;
  Step rest = next(bytes.substr(end + 2));
  rest.consumed += end + 2;
  return rest;
}

ResponseParser::Step ResponseParser::read_chunk_end(std::string_view bytes) {
  if (bytes.size() < 2) return {};
  if (!bytes.starts_with(line_end)) {
    fail("a chunk is longer than its size");
    return failure();
  }
  state_ = State::chunk_size;
  Step rest = next(bytes.substr(2));
  rest.consumed += 2;
  return rest;
}

// Trailers are checked and dropped.
ResponseParser::Step ResponseParser::read_trailers(std::string_view bytes) {
  size_t consumed = 0;
  while (true) {
    const std::string_view rest = bytes.substr(consumed);
    const size_t end = rest.find(line_end);
    if (trailer_bytes_ + at_least(end, rest, line_end) > options_.max_head) {
      fail("the trailers of the response are too large");
      return failure(Event::too_large);
    }
    if (end == std::string_view::npos) return {.event = Event::need_more, .consumed = consumed};
    const std::string_view line = rest.substr(0, end);
    consumed += end + 2;
    trailer_bytes_ += end + 2;
    if (line.empty()) break;
    if (!is_token(line.substr(0, line.find(':'))) || !line.contains(':') || !is_field_value(line)) {
      fail("a trailer is malformed");
      return failure();
    }
  }
  state_ = State::done;
  return {.event = Event::end, .consumed = consumed};
}

bool ResponseParser::parse_head(std::string_view head) {
  content_length_.reset();
  chunked_ = false;
  asked_keep_alive_ = false;
  const std::string_view status_line = head.substr(0, head.find(line_end));
  if (!parse_status_line(status_line)) return false;
  head.remove_prefix(std::min(head.size(), status_line.size() + 2));
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find(line_end));
    if (!parse_field(line)) return false;
    head.remove_prefix(std::min(head.size(), line.size() + 2));
  }
  if (http_1_0_ && !asked_keep_alive_) keep_alive_ = false;
  return true;
}

bool ResponseParser::parse_status_line(std::string_view line) {
  constexpr std::string_view form = "HTTP/1.x 200";
  if (line.size() < form.size() || !line.starts_with("HTTP/1.") || line[8] != ' ') {
    return fail("the response is not HTTP/1");
  }
  if (line[7] != '0' && line[7] != '1') return fail("the response is not HTTP/1.0 or 1.1");
  http_1_0_ = line[7] == '0';
  const auto status = parse_number<unsigned>(line.substr(9, 3), 10);
  if (!status || *status < 100 || *status > 599) return fail("the status is not a number from 100 to 599");
  // Some servers leave out the space before an empty reason.
  const std::string_view reason = line.substr(form.size());
  if (!reason.empty() && (reason[0] != ' ' || !is_field_value(reason))) return fail("the status line is malformed");
  status_ = static_cast<int>(*status);
  return true;
}

bool ResponseParser::parse_field(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return fail("a header's name is malformed");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (!is_field_value(value)) return fail("a header's value has a forbidden character");
  if (!take_framing(name, value)) return false;
  if (options_.keep_headers) headers_.add(name, value);
  return true;
}

bool ResponseParser::take_framing(std::string_view name, std::string_view value) {
  if (equal_ignoring_case(name, "content-length")) {
    // from_chars takes no sign for an unsigned number and no white space.
    const auto length = parse_number<uint64_t>(value, 10);
    if (!length || (content_length_ && content_length_ != length)) return fail("Content-Length is malformed");
    content_length_ = length;
  } else if (equal_ignoring_case(name, "transfer-encoding")) {
    if (chunked_ || !equal_ignoring_case(value, "chunked")) return fail("Transfer-Encoding is not chunked");
    chunked_ = true;
  } else if (equal_ignoring_case(name, "connection")) {
    if (has_list_item(value, "close")) keep_alive_ = false;
    if (has_list_item(value, "keep-alive")) asked_keep_alive_ = true;
  }
  return true;
}

bool ResponseParser::choose_body() {
  if (chunked_ && (content_length_ || http_1_0_))
    return fail("Transfer-Encoding together with Content-Length or HTTP/1.0");
  if (to_head_request_ || status_ == 204 || status_ == 304) {
    state_ = State::done;
  } else if (chunked_) {
    state_ = State::chunk_size;
  } else if (content_length_) {
    left_ = *content_length_;
    state_ = left_ == 0 ? State::done : State::sized;
  } else {
    state_ = State::until_close;
  }
  return true;
}

bool ResponseParser::fail(std::string_view problem) {
  problem_ = problem;
  return false;
}

ResponseParser::Step ResponseParser::failure(Event event) {
  state_ = State::failed;
  keep_alive_ = false;
  return {.event = event};
}

}  // namespace sluice::http
