#include "http/connection.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <sys/uio.h>

#include "http/exchange.h"
#include "http/proxy_protocol.h"
#include "http/request_parser.h"
#include "http/stream_outlet.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

using Error = boost::system::error_code;

constexpr size_t first_buffer = 4 << 10;
// Answers up to here are copied behind their head: one short copy is cheaper than a second buffer in the system call.
constexpr size_t copied_body = 4 << 10;
constexpr size_t announced_body = 64 << 10;
// What a client may still send after we have answered and closed, so that it gets to read the answer.
constexpr size_t lingering_bytes = 1 << 20;
constexpr Duration lingering_time = 2s;

struct InFlight {
  explicit InFlight(std::atomic<size_t>& counter) : count(counter) { count.fetch_add(1, std::memory_order_relaxed); }
  ~InFlight() { count.fetch_sub(1, std::memory_order_relaxed); }
  std::atomic<size_t>& count;
};

std::string_view whole_body(const Response& response) {
  if (const auto* own = std::get_if<std::string>(&response.body)) return *own;
  if (const auto* shared = std::get_if<SharedBytes>(&response.body)) return **shared;
  return {};
}

// A connection is one coroutine. It waits for one thing at a time, so one timeout is enough.
template <class Stream>
class StreamConnection final : public Connection, private TimerWheel::Entry, private BodySource {
 public:
  template <class... Args>
  StreamConnection(Worker& worker, Address peer, ConnectionSlots::Slot slot, Args&&... args)
      : worker_(worker),
        config_(worker.engine.config),
        peer_{.address = std::move(peer), .secure = !is_plain},
        slot_(std::move(slot)),
        stream_(std::make_unique<Stream>(std::forward<Args>(args)...)),
        parser_(
            {.head_bytes = config_.max_head, .target_bytes = config_.max_target, .header_count = config_.max_headers}),
        exchange_(worker) {}

  Task<> run() override;

  void drain() override {
    draining_ = true;
    if (waiting_for_ == Wait::idle) socket().cancel();
  }

  void abort() override {
    aborted_ = true;
    Error ignored;
    if (stream_) socket().close(ignored);
    cancel_.emit(asio::cancellation_type::terminal);
  }

 private:
  static constexpr bool is_plain = std::is_same_v<Stream, Socket>;
  enum class Wait { nothing, idle, head, body, handler, write };

  Socket& socket() {
    if constexpr (is_plain) {
      return *stream_;
    } else {
      return stream_->next_layer();
    }
  }

  void on_timeout() override;
  void wait_for(Wait what, Duration timeout) {
    waiting_for_ = what;
    timed_out_ = false;
    worker_.wheel.set(*this, timeout);
  }

  Task<bool> open();
  Task<bool> read_proxy_header();
  asio::mutable_buffer free_buffer();
  bool take(size_t got, const Error& failed);
  bool parse_head();
  std::optional<Response> refuse();
  Task<bool> answer_request();
  Task<std::optional<Response>> read_body();
  Task<std::optional<std::string>> next() override;
  Task<> continue_if_expected();
  bool send_at_once(Response& response);
  Task<bool> send_rest(Response& response);
  Task<bool> send_stream(BodySource& source);
  void hand_over(Takeover takeover);
  Task<bool> write(std::string_view head, std::string_view body = {}, size_t done = 0);
  size_t write_now(std::string_view head, std::string_view body);
  Task<> linger();
  Duration body_time() const;

  std::string_view buffered() const { return {buffer_.data() + begin_, end_ - begin_}; }

  Worker& worker_;
  const ServerConfig& config_;
  Client peer_;
  ConnectionSlots::Slot slot_;
  std::unique_ptr<Stream> stream_;
  RequestParser parser_;
  Exchange exchange_;
  std::string buffer_;
  size_t begin_ = 0;  // of what is read but not parsed
  size_t end_ = 0;
  std::string out_;
  Exchange::Plan plan_;
  bool keep_ = false;        // the connection, after the current answer
  uint64_t written_ = 0;     // of the current answer
  uint64_t body_bytes_ = 0;  // of the current request, read so far
  Instant body_began_{};
  Wait waiting_for_ = Wait::nothing;
  bool timed_out_ = false;
  bool draining_ = false;
  bool aborted_ = false;
  bool must_linger_ = false;
};

template <class Stream>
void StreamConnection<Stream>::on_timeout() {
  timed_out_ = true;
  Error ignored;
  switch (waiting_for_) {
    case Wait::nothing: break;
    case Wait::idle:
    case Wait::head:
    case Wait::body: socket().cancel(ignored); break;
    case Wait::handler: cancel_.emit(asio::cancellation_type::terminal); break;
    case Wait::write: socket().close(ignored); break;
  }
}

template <class Stream>
Task<> StreamConnection<Stream>::run() {
  bool more = co_await open();
  while (more) {
    parser_.reset();
    // Whatever is pipelined is parsed before the socket is asked.
    while (more && !parse_head()) {
      const bool idle = !parser_.started();
      if (idle && (draining_ || worker_.engine.draining)) {
        more = false;
        break;
      }
      // The head's time runs from its first byte, however slowly the others come.
      if (idle) {
        wait_for(Wait::idle, config_.idle_timeout);
      } else if (waiting_for_ != Wait::head) {
        wait_for(Wait::head, config_.head_timeout);
      }
      Error failed;
      const asio::mutable_buffer room = free_buffer();
      const size_t got = co_await stream_->async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
      more = take(got, failed);
    }
    waiting_for_ = Wait::nothing;
    if (!more && timed_out_ && parser_.started()) {
      Response late = exchange_.refuse(parser_.head(), peer_, request_timeout());
      if (!send_at_once(late)) co_await send_rest(late);
      exchange_.finish(late.status, written_);
    }
    if (more) more = co_await answer_request();
  }
  if (!stream_) co_return;
  if constexpr (!is_plain) {
    // Says that this is the end, and not somebody cutting the line.
    wait_for(Wait::write, lingering_time);
    Error unheard;
    co_await stream_->async_shutdown(asio::redirect_error(asio::use_awaitable, unheard));
    waiting_for_ = Wait::nothing;
  }
  if (must_linger_) co_await linger();
  Error ignored;
  socket().shutdown(Socket::shutdown_both, ignored);
  socket().close(ignored);
}

template <class Stream>
Task<bool> StreamConnection<Stream>::open() {
  if (worker_.engine.proxy_protocol_from.contains(peer_.address)) {
    const bool known = co_await read_proxy_header();
    if (!known) co_return false;
  }
  if constexpr (!is_plain) {
    wait_for(Wait::head, config_.head_timeout);
    Error failed;
    co_await stream_->async_handshake(asio::ssl::stream_base::server, asio::buffer(buffered()),
                                      asio::redirect_error(asio::use_awaitable, failed));
    begin_ = end_ = 0;
    waiting_for_ = Wait::nothing;
    co_return !failed;
  }
  co_return true;
}

template <class Stream>
Task<bool> StreamConnection<Stream>::read_proxy_header() {
  wait_for(Wait::head, config_.head_timeout);
  buffer_.resize(first_buffer);
  ProxyHeader header = http::read_proxy_header(buffered());
  while (header.state == ProxyHeader::State::incomplete) {
    Error failed;
    end_ += co_await socket().async_read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                                              asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return false;
    header = http::read_proxy_header(buffered());
  }
  waiting_for_ = Wait::nothing;
  if (header.state == ProxyHeader::State::malformed) co_return false;
  begin_ += header.size;
  if (header.source) peer_.address = *header.source;
  co_return true;
}

// Where the next bytes go, behind those that are not parsed yet.
template <class Stream>
asio::mutable_buffer StreamConnection<Stream>::free_buffer() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size()) {
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    // Bounded: the parser fails on a head that does not fit, and uses up a body as it comes.
    buffer_.resize(std::max(first_buffer, end_ * 2));
  }
  return asio::buffer(buffer_.data() + end_, buffer_.size() - end_);
}

// What a read brought. False at the end, on failure and on timeout.
template <class Stream>
bool StreamConnection<Stream>::take(size_t got, const Error& failed) {
  end_ += got;
  return !failed && got > 0 && !aborted_;
}

// True when a head is complete or has failed.
template <class Stream>
bool StreamConnection<Stream>::parse_head() {
  // Some clients send an empty line after a body (RFC 9112 2.2).
  while (!parser_.started() && buffered().starts_with("\r\n")) begin_ += 2;
  if (begin_ == end_ || (!parser_.started() && buffered() == "\r")) return false;
  begin_ += parser_.parse(buffered(), exchange_.request().body);
  return parser_.state() != RequestParser::State::head;
}

// The answer to a request that must not reach its handler.
template <class Stream>
std::optional<Response> StreamConnection<Stream>::refuse() {
  if (parser_.state() == RequestParser::State::failed) {
    return exchange_.refuse(parser_.head(), peer_, problem_of(parser_.error()));
  }
  std::optional<Response> response = exchange_.begin(parser_.head(), peer_);
  if (!response && worker_.engine.in_flight.load(std::memory_order_relaxed) >= config_.max_in_flight) {
    count_rejected("in_flight");
    response = exchange_.answer({.status = 503,
                                 .code = "overloaded",
                                 .title = "The server is handling as many requests as it can.",
                                 .retry_after = Duration{1s}});
  }
  return response;
}

// False when the connection must not be used further.
template <class Stream>
Task<bool> StreamConnection<Stream>::answer_request() {
  const bool failed = parser_.state() == RequestParser::State::failed;
  if (failed && buffered().starts_with("PRI * HTTP/2")) co_return false;  // we do not speak it, and never said so
  std::optional<Response> response = refuse();
  std::optional<InFlight> in_flight;
  if (!response) {
    in_flight.emplace(worker_.engine.in_flight);
    body_bytes_ = 0;
    parser_.limit_body(exchange_.route()->options.max_body);
    body_began_ = exchange_.began();
    if (exchange_.route()->options.streamed_body) {
      exchange_.request().stream = this;
    } else if (parser_.state() == RequestParser::State::body) {
      // A short body mostly came along with its head.
      begin_ += parser_.parse(buffered(), exchange_.request().body);
      if (parser_.state() != RequestParser::State::done) response = co_await read_body();
    }
  }
  if (!response) {
    wait_for(Wait::handler, exchange_.route()->options.timeout);
    std::exception_ptr failure;
    try {
      Task<Response> task = exchange_.route()->handler(exchange_.request());
      response.emplace(co_await std::move(task));
    } catch (...) {
      failure = std::current_exception();
    }
    waiting_for_ = Wait::nothing;
    // It may have been cancelled and answered all the same; what comes next must not be cancelled with it.
    if (timed_out_) co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    if (failure) response = exchange_.answer_failure(failure, timed_out_ || aborted_);
  }
  // Most answers go out at once; only the others need to wait.
  bool sent = send_at_once(*response);
  if (!sent) sent = co_await send_rest(*response);
  exchange_.finish(response->status, written_);
  co_return sent&& keep_;
}

template <class Stream>
Duration StreamConnection<Stream>::body_time() const {
  const auto earned = std::chrono::seconds(body_bytes_ / std::max<size_t>(1, config_.min_body_rate));
  const auto spent = std::chrono::floor<Duration>(worker_.engine.clock.now() - body_began_);
  return std::max(Duration{1}, config_.body_timeout + earned - spent);
}

template <class Stream>
Task<> StreamConnection<Stream>::continue_if_expected() {
  if (!parser_.head().expects_continue || begin_ != end_ || parser_.head().http_1_0) co_return;
  co_await write("HTTP/1.1 100 Continue\r\n\r\n");
}

// The whole body into the request, or the answer that says what is wrong with it.
template <class Stream>
Task<std::optional<Response>> StreamConnection<Stream>::read_body() {
  co_await continue_if_expected();
  std::string& body = exchange_.request().body;
  // Not all that was announced: memory is for what has come.
  body.reserve(std::min<uint64_t>(parser_.head().content_length, announced_body));
  while (true) {
    if (parser_.state() == RequestParser::State::body) begin_ += parser_.parse(buffered(), body);
    if (parser_.state() != RequestParser::State::body) break;
    // Only framing may be left unparsed (a chunk's head, trailers); none that we accept is this long.
    if (end_ - begin_ > config_.max_head) co_return exchange_.answer(problem_of(ParseError::malformed));
    body_bytes_ = body.size();
    wait_for(Wait::body, body_time());
    Error failed;
    const asio::mutable_buffer room = free_buffer();
    const size_t got = co_await stream_->async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
    waiting_for_ = Wait::nothing;
    if (!take(got, failed)) co_return exchange_.answer(request_timeout());
  }
  if (parser_.state() == RequestParser::State::done) co_return std::nullopt;
  co_return exchange_.answer(problem_of(parser_.error()));
}

// A body in pieces, for the handler. Fails like an engine when the client does.
template <class Stream>
Task<std::optional<std::string>> StreamConnection<Stream>::next() {
  if (body_bytes_ == 0 && parser_.state() == RequestParser::State::body) co_await continue_if_expected();
  std::string piece;
  while (true) {
    if (parser_.state() == RequestParser::State::body) begin_ += parser_.parse(buffered(), piece);
    body_bytes_ += piece.size();
    if (!piece.empty()) co_return piece;
    if (parser_.state() == RequestParser::State::done) co_return std::nullopt;
    if (parser_.state() == RequestParser::State::failed) throw BodyFailed(problem_of(parser_.error()));
    if (end_ - begin_ > config_.max_head) throw BodyFailed(problem_of(ParseError::malformed));
    wait_for(Wait::body, body_time());
    Error failed;
    const asio::mutable_buffer room = free_buffer();
    const size_t got = co_await stream_->async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
    // A deadline that has passed meanwhile leaves no time, and that is not the same as no limit.
    wait_for(Wait::handler, std::max(Duration{1}, exchange_.request().deadline.left(worker_.engine.clock)));
    if (!take(got, failed)) throw BodyFailed(request_timeout());
  }
}

// Writes the head and what the socket takes. True if that was all of the answer.
template <class Stream>
bool StreamConnection<Stream>::send_at_once(Response& response) {
  const bool complete = parser_.state() == RequestParser::State::done;
  keep_ = complete && parser_.head().keep_alive && !draining_ && !worker_.engine.draining && !aborted_;
  must_linger_ = !complete;
  out_.clear();
  plan_ = exchange_.write_head(response, keep_, out_);
  if (plan_.framing == Exchange::Framing::close) keep_ = false;
  written_ = 0;
  if (response.body.index() > 1 && plan_.send_body) return false;

  if (!plan_.send_body) response.body = std::string{};
  const std::string_view body = whole_body(response);
  if (body.size() <= copied_body) {
    out_.append(body);
    response.body = std::string{};
  }
  const std::string_view separate = whole_body(response);
  written_ = write_now(out_, separate);
  return written_ == out_.size() + separate.size();
}

// What is left of the answer. False when the connection broke.
template <class Stream>
Task<bool> StreamConnection<Stream>::send_rest(Response& response) {
  if (response.body.index() < 2) {
    co_return co_await write(out_, whole_body(response), written_);
  }
  bool sent = co_await write(out_);
  if (!sent) co_return false;
  if (auto* source = std::get_if<std::unique_ptr<BodySource>>(&response.body)) {
    co_return co_await send_stream(**source);
  }
  hand_over(std::move(std::get<Takeover>(response.body)));
  co_return false;
}

template <class Stream>
Task<bool> StreamConnection<Stream>::send_stream(BodySource& source) {
  const bool chunked = plan_.framing == Exchange::Framing::chunked;
  std::optional<Gzip> gzip;
  if (plan_.compress_stream) gzip.emplace();
  bool more = true;
  while (more) {
    std::optional<std::string> piece;
    wait_for(Wait::handler, exchange_.route()->options.timeout);
    try {
      Task<std::optional<std::string>> next_piece = source.next();
      piece = co_await std::move(next_piece);
    } catch (const std::exception& error) {
      // The head is out: all that is left is to end without the end, so that the client knows.
      log::error("answer broke off", {{"request_id", exchange_.request().request_id}, {"error", error.what()}});
      co_return false;
    }
    waiting_for_ = Wait::nothing;
    more = piece.has_value();
    if (gzip) piece = more ? gzip->add(*piece) : gzip->finish();
    out_.clear();
    if (piece && !piece->empty()) {
      if (chunked) fmt::format_to(std::back_inserter(out_), "{:x}\r\n", piece->size());
      out_.append(*piece);
      if (chunked) out_.append("\r\n");
    }
    if (!more && chunked) out_.append("0\r\n\r\n");
    const bool sent = co_await write(out_);
    if (!sent) co_return false;
  }
  co_return true;
}

template <class Stream>
void StreamConnection<Stream>::hand_over(Takeover takeover) {
  worker_.wheel.clear(*this);
  auto outlet = std::make_shared<StreamOutlet<Stream>>(std::move(stream_), std::move(slot_));
  outlet->watch();
  takeover(std::move(outlet));
}

// How much of both went out at once, without waiting. TLS needs its own machinery and always waits.
template <class Stream>
size_t StreamConnection<Stream>::write_now(std::string_view head, std::string_view body) {
  if constexpr (is_plain) {
    if (body.empty()) {
      const ssize_t sent = ::send(stream_->native_handle(), head.data(), head.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      return sent > 0 ? static_cast<size_t>(sent) : 0;
    }
    std::array<iovec, 2> parts{
        {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(stream_->native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? static_cast<size_t>(sent) : 0;  // an error shows again in the write that follows
  }
  return 0;
}

// Both, but for the first `done` bytes.
template <class Stream>
Task<bool> StreamConnection<Stream>::write(std::string_view head, std::string_view body, size_t done) {
  const size_t total = head.size() + body.size();
  while (done < total) {
    const std::array<asio::const_buffer, 2> rest{
        asio::buffer(head.substr(std::min(done, head.size()))),
        asio::buffer(body.substr(done > head.size() ? done - head.size() : 0))};
    wait_for(Wait::write, config_.write_timeout);
    Error failed;
    const size_t sent = co_await stream_->async_write_some(rest, asio::redirect_error(asio::use_awaitable, failed));
    waiting_for_ = Wait::nothing;
    if (failed) co_return false;
    done += sent;
    written_ += sent;
  }
  co_return !aborted_;
}

// Closing with bytes of the client unread resets the connection, and the answer may be lost with it.
template <class Stream>
Task<> StreamConnection<Stream>::linger() {
  Error failed;
  socket().shutdown(Socket::shutdown_send, failed);
  wait_for(Wait::body, lingering_time);
  for (size_t seen = 0; !failed && seen < lingering_bytes && !aborted_;) {
    buffer_.resize(std::max(buffer_.size(), first_buffer));
    seen += co_await socket().async_read_some(asio::buffer(buffer_), asio::redirect_error(asio::use_awaitable, failed));
  }
}

}  // namespace

std::unique_ptr<Connection> make_connection(Worker& worker, Socket socket, Address peer, ConnectionSlots::Slot slot) {
  return std::make_unique<StreamConnection<Socket>>(worker, std::move(peer), std::move(slot), std::move(socket));
}

std::unique_ptr<Connection> make_tls_connection(Worker& worker, Socket socket, Address peer, ConnectionSlots::Slot slot,
                                                asio::ssl::context& tls) {
  return std::make_unique<StreamConnection<TlsStream>>(worker, std::move(peer), std::move(slot), std::move(socket),
                                                       tls);
}

}  // namespace sluice::http
