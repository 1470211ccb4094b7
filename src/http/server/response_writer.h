// The writing half of a connection: an answer, whole, in pieces, or as a stream that is taken over. Internal to the
// server.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

#include "http/gzip.h"
#include "http/server/exchange.h"
#include "http/server/stream_outlet.h"
#include "http/server/timed_stream.h"
#include "runtime/log.h"

namespace sluice::http {

// Belongs to one connection, whose stream and exchange outlive it; used for one answer after the other.
template <class Stream>
class ResponseWriter {
 public:
  ResponseWriter(TimedStream<Stream>& stream, Exchange& exchange, ConnectionSlots::Slot slot)
      : stream_(stream), exchange_(exchange), slot_(std::move(slot)) {}

  // Writes the head and as much as the socket takes. True if the answer is complete, as usual; otherwise call
  // `send_rest`. `keep` is whether the connection may be reused.
  bool send_at_once(Response& response, bool keep);
  // Sends the rest of the answer. False if the connection broke or was taken over.
  Task<bool> send_rest(Response& response);

  ConnectionSlots::Slot& slot() { return slot_; }
  // Whether the connection can be used further, now that the client was told.
  bool keep() const { return keep_; }
  // Bytes of the current answer.
  uint64_t written() const { return stream_.sent() - sent_before_; }

 private:
  // Up to here a body is copied behind its head: one short copy is cheaper than a second buffer in the system call.
  static constexpr size_t copied_body = 4 << 10;

  Task<bool> send_stream(BodySource& source);
  void append_piece(std::string_view piece, bool last);
  void hand_over(Takeover takeover);

  TimedStream<Stream>& stream_;
  Exchange& exchange_;
  ConnectionSlots::Slot slot_;
  std::string out_;
  Exchange::Plan plan_;
  bool keep_ = false;
  uint64_t sent_before_ = 0;
};

template <class Stream>
bool ResponseWriter<Stream>::send_at_once(Response& response, bool keep) {
  out_.clear();
  plan_ = exchange_.write_head(response, keep, out_);
  keep_ = keep && plan_.framing != Exchange::Framing::close;
  sent_before_ = stream_.sent();
  if (!plan_.send_body) response.body = std::string{};
  const std::string* body = whole_body(response);
  if (body == nullptr) return false;

  if (body->size() <= copied_body) {
    out_.append(*body);
    response.body = std::string{};
    body = whole_body(response);
  }
  return stream_.write_now(out_, *body) == out_.size() + body->size();
}

template <class Stream>
Task<bool> ResponseWriter<Stream>::send_rest(Response& response) {
  if (const std::string* body = whole_body(response)) {
    co_return co_await stream_.write(out_, *body, written());
  }
  const bool sent = co_await stream_.write(out_);
  if (!sent) co_return false;
  if (auto* source = std::get_if<std::unique_ptr<BodySource>>(&response.body)) {
    co_return co_await send_stream(**source);
  }
  hand_over(std::move(std::get<Takeover>(response.body)));
  co_return false;
}

template <class Stream>
Task<bool> ResponseWriter<Stream>::send_stream(BodySource& source) {
  std::optional<Gzip> gzip;
  if (plan_.compress_stream) gzip.emplace();
  bool more = true;
  while (more) {
    std::optional<std::string> piece;
    std::optional<std::string> failure;
    stream_.wait_for_handler(exchange_.route()->options.timeout, false);
    try {
      Task<std::optional<std::string>> next_piece = source.next();
      piece = co_await std::move(next_piece);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (stream_.waited_for_handler() != HandlerStop::none) {
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      failure = "the next part took too long";
    }
    if (failure) {
      // The head is out: all that is left is to end without the end, so that the client knows.
      log::error("response aborted", {{"request_id", exchange_.request().request_id}, {"error", *failure}});
      co_return false;
    }
    more = piece.has_value();
    if (gzip) piece = more ? gzip->add(*piece) : gzip->finish();
    append_piece(piece.value_or(""), !more);
    const bool sent = co_await stream_.write(out_);
    if (!sent) co_return false;
  }
  co_return true;
}

template <class Stream>
void ResponseWriter<Stream>::append_piece(std::string_view piece, bool last) {
  const bool chunked = plan_.framing == Exchange::Framing::chunked;
  out_.clear();
  if (!piece.empty()) {
    if (chunked) fmt::format_to(std::back_inserter(out_), "{:x}\r\n", piece.size());
    out_.append(piece);
    if (chunked) out_.append("\r\n");
  }
  if (last && chunked) out_.append("0\r\n\r\n");
}

template <class Stream>
void ResponseWriter<Stream>::hand_over(Takeover takeover) {
  auto outlet = std::make_shared<StreamOutlet<Stream>>(stream_.release(), std::move(slot_));
  outlet->watch();
  takeover(std::move(outlet));
}

}  // namespace sluice::http
