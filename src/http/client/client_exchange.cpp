#include "http/client/client_exchange.h"

#include "http/syntax.h"

namespace sluice::http {
namespace {

using Event = ResponseParser::Event;
using Kind = ClientError::Kind;

constexpr size_t worth_skipping = 64 * 1024;
constexpr std::array<std::string_view, 8> own_fields{
    "Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Expect", "TE", "Trailer"};

void add_field(std::string& head, std::string_view name, std::string_view value) {
  if (!is_token(name) || !is_field_value(value)) {
    throw CallFailed(Kind::bad_request, fmt::format("the header {} has an invalid name or value", name));
  }
  head.append(name).append(": ").append(value).append("\r\n");
}

bool has_length(const ClientRequest& request) {
  return !request.body.empty() || request.method == Method::post || request.method == Method::put ||
         request.method == Method::patch;
}

}  // namespace

std::string write_head(const ClientRequest& request, std::string_view user_agent) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", name(request.method), request.url.target());
  add_field(head, "Host", request.url.authority());
  if (!request.headers.find("User-Agent")) add_field(head, "User-Agent", user_agent);
  if (request.gzip) add_field(head, "Accept-Encoding", "gzip");
  if (!request.request_id.empty()) add_field(head, "X-Request-Id", request.request_id);
  if (!request.traceparent.empty()) add_field(head, "traceparent", request.traceparent);
  for (const auto& field : request.headers) {
    const auto is_this = [&field](std::string_view own) { return equal_ignoring_case(own, field.name); };
    if (std::ranges::any_of(own_fields, is_this)) {
      throw CallFailed(Kind::bad_request, fmt::format("the header {} is set by the client itself", field.name));
    }
    add_field(head, field.name, field.value);
  }
  if (has_length(request)) add_field(head, "Content-Length", std::to_string(request.body.size()));
  head += "\r\n";
  return head;
}

ClientExchange::ClientExchange(ClientPool::Place place, size_t max_head, const ClientRequest& request)
    : place_(std::move(place)),
      origin_(request.url.origin()),
      parser_({.max_head = max_head, .keep_headers = true}),
      to_head_request_(request.method == Method::head),
      decode_gzip_(request.gzip),
      max_bytes_(request.max_bytes) {}

Task<> ClientExchange::begin(std::string head, std::string body) {
  parser_.start(to_head_request_);
  try {
    co_await place_->connection->write(head, body);
  } catch (const CallFailed&) {
    // A server may answer before it has read everything (413, say) and close: its answer tells more than our failure.
    reusable_ = false;
  }
  co_await step();
  const auto length = parser_.content_length();
  if (length && *length > max_bytes_ && !to_head_request_) {
    fail(Kind::too_large, fmt::format("the response has {} bytes; the limit is {}", *length, max_bytes_));
  }
  if (decode_gzip_ && equal_ignoring_case(parser_.headers().get("Content-Encoding"), "gzip")) {
    gunzip_ = std::make_unique<Gunzip>();
    parser_.headers().remove("Content-Encoding");
    parser_.headers().remove("Content-Length");
  }
}

Task<std::optional<std::string>> ClientExchange::next() {
  while (place_) {
    const ResponseParser::Step step = co_await this->step();
    if (step.event == Event::end) {
      finish();
    } else {
      std::string piece = decode(step.piece);
      if (!piece.empty()) co_return piece;
    }
  }
  co_return std::nullopt;
}

Task<> ClientExchange::skip_body() {
  max_bytes_ = std::min(max_bytes_, worth_skipping);
  try {
    while (place_) co_await next();
  } catch (const CallFailed&) {
    // Not worth keeping, then.
  }
}

// The next event other than missing bytes. The bytes it consumed stay valid until the connection reads again.
Task<ResponseParser::Step> ClientExchange::step() {
  ClientConnection& connection = *place_->connection;
  while (true) {
    const ResponseParser::Step step = parser_.next(connection.unread());
    connection.consume(step.consumed);
    switch (step.event) {
      case Event::head:
      case Event::body:
      case Event::end: co_return step;
      case Event::interim: continue;
      case Event::bad: fail(Kind::bad_answer, parser_.problem());
      case Event::too_large: fail(Kind::too_large, parser_.problem());
      case Event::need_more: break;
    }
    const bool more = co_await connection.fill();
    if (more) {
      untouched_ = false;
    } else if (parser_.closed() == Event::end) {
      co_return ResponseParser::Step{.event = Event::end};
    } else {
      fail(Kind::closed, parser_.problem());
    }
  }
}

std::string ClientExchange::decode(std::string_view piece) {
  received_ += piece.size();
  if (received_ > max_bytes_) fail(Kind::too_large, fmt::format("the response exceeds {} bytes", max_bytes_));
  if (!gunzip_) return std::string(piece);
  std::string decoded;
  gunzip_state_ = gunzip_->write(piece, decoded, max_bytes_ - decoded_);
  decoded_ += decoded.size();
  if (gunzip_state_ == Gunzip::State::bad) fail(Kind::bad_answer, "the response is not valid gzip");
  if (decoded_ > max_bytes_)
    fail(Kind::too_large, fmt::format("the decompressed response exceeds {} bytes", max_bytes_));
  return decoded;
}

void ClientExchange::finish() {
  if (received_ > 0 && gunzip_ && gunzip_state_ != Gunzip::State::end) {
    fail(Kind::bad_answer, "the gzip data of the response is truncated");
  }
  if (reusable_ && parser_.keep_alive() && place_->connection->unread().empty()) place_->keep();
  place_.reset();
}

void ClientExchange::fail(ClientError::Kind kind, std::string_view text) {
  throw CallFailed(kind, fmt::format("{}: {}", origin_, text));
}

}  // namespace sluice::http
