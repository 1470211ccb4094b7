#include "http/server/connection.h"

#include <boost/asio/ssl/stream.hpp>

#include "http/server/exchange.h"
#include "http/server/place.h"
#include "http/server/proxy_protocol.h"
#include "http/server/request_reader.h"
#include "http/server/response_writer.h"
#include "http/server/timed_stream.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

using Error = boost::system::error_code;
using State = RequestParser::State;

// How much a client may still send after we have answered and closed, so that it gets to read the answer.
constexpr size_t lingering_bytes = 1 << 20;

// One coroutine from the first byte to the last. Where answering needs no waiting, none of its helpers is a coroutine:
// that is the path of nearly every request.
template <class Stream>
class StreamConnection final : public Connection, private RequestConnection {
 public:
  template <class... Args>
  StreamConnection(ThreadState& thread, Address peer, ConnectionSlots::Slot slot, Args&&... args)
      : thread_(thread),
        config_(thread.server.config),
        peer_{.address = std::move(peer), .secure = !is_plain},
        stream_(thread, cancel_, std::forward<Args>(args)...),
        exchange_(thread),
        place_(thread.server),
        reader_(thread, *this, stream_, exchange_, place_),
        writer_(stream_, exchange_, std::move(slot)) {}

  Task<> run() override;

  void drain() override {
    draining_ = true;
    if (stream_.waiting_for() == Wait::idle) stream_.socket().cancel();
  }

  void abort() override { stream_.abort(); }
  bool make_room() override;

 private:
  static constexpr bool is_plain = TimedStream<Stream>::is_plain;

  bool wait_for_head();
  Task<bool> open();
  Task<bool> read_proxy_header();
  std::optional<Response> admit();
  void begin_body();
  bool may_begin() { return exchange_.route()->options.always_served || place_.take(); }
  Task<bool> answer_request();
  bool is_only_for_client();
  bool has_hung_up() override;
  Task<> receive_body() override;
  Response answer_failure(const std::exception_ptr& failure, HandlerStop stopped);
  bool send_at_once(Response& response);
  Task<> take_back(Response& response);
  Task<> close();
  Task<> linger();

  bool is_draining() const { return draining_ || thread_.server.draining; }

  ThreadState& thread_;
  const ServerConfig& config_;
  Client peer_;
  TimedStream<Stream> stream_;
  Exchange exchange_;
  Place place_;
  RequestReader<Stream> reader_;
  ResponseWriter<Stream> writer_;
  bool draining_ = false;
  bool is_new_ = true;        // no request has come yet
  bool must_linger_ = false;  // the answer came before the end of the request
};

template <class Stream>
Task<> StreamConnection<Stream>::run() {
  thread_.idle.push_back(*this);
  bool more = co_await open();
  while (more) {
    reader_.parser().reset();
    // Pipelined bytes are parsed before the socket is read.
    while (more && !reader_.parse_head()) {
      more = wait_for_head();
      if (!more) break;
      Error failed;
      const size_t got = co_await reader_.read_some(failed);
      more = reader_.take(got, failed);
    }
    stream_.waited();
    if (is_linked()) unlink();
    if (!more && stream_.is_late() && reader_.parser().started()) {
      Response late = exchange_.refuse(reader_.parser().head(), peer_, request_timeout());
      if (!send_at_once(late)) co_await writer_.send_rest(late);
      exchange_.finish(late.status, writer_.written());
    }
    if (more) more = co_await answer_request();
  }
  if (stream_.has_stream()) co_await close();
}

// Before a read. A head's time runs from its first byte, and the idle time from the last answer; further bytes do not
// extend them. False when the time is over, or when the connection serves no further request.
template <class Stream>
bool StreamConnection<Stream>::wait_for_head() {
  const Wait next = reader_.parser().started() ? Wait::head : Wait::idle;
  if (next == Wait::idle && is_draining()) return false;
  if (stream_.waiting_for() == next) return !stream_.is_late();
  // A new connection must send its head soon; an answered one may be idle.
  const bool is_between_requests = next == Wait::idle && !is_new_;
  stream_.wait_for(next, is_between_requests ? config_.idle_timeout : config_.head_timeout);
  if (!is_linked()) thread_.idle.push_back(*this);
  return true;
}

template <class Stream>
bool StreamConnection<Stream>::make_room() {
  if (has_unread(stream_.socket().native_handle())) return false;
  unlink();
  writer_.slot().give_back();
  abort();
  return true;
}

template <class Stream>
Task<bool> StreamConnection<Stream>::open() {
  if (thread_.server.proxy_protocol_from.contains(peer_.address)) {
    const bool known = co_await read_proxy_header();
    if (!known) co_return false;
  }
  if constexpr (!is_plain) {
    stream_.wait_for(Wait::handshake, config_.head_timeout);
    Error failed;
    co_await stream_.stream().async_handshake(asio::ssl::stream_base::server, asio::buffer(reader_.input().unread()),
                                              asio::redirect_error(asio::use_awaitable, failed));
    reader_.input().clear();
    stream_.waited();
    co_return !failed;
  }
  co_return true;
}

// Comes before TLS, so it is read from the socket itself.
template <class Stream>
Task<bool> StreamConnection<Stream>::read_proxy_header() {
  stream_.wait_for(Wait::handshake, config_.head_timeout);
  InputBuffer& input = reader_.input();
  ProxyHeader header = http::read_proxy_header(input.unread());
  while (header.state == ProxyHeader::State::incomplete) {
    Error failed;
    const asio::mutable_buffer room = input.room();
    const size_t got =
        co_await stream_.socket().async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
    if (!reader_.take(got, failed)) co_return false;
    header = http::read_proxy_header(input.unread());
  }
  stream_.waited();
  if (header.state == ProxyHeader::State::malformed) co_return false;
  input.use(header.size);
  if (!header.source) co_return true;
  peer_.address = *header.source;
  if (writer_.slot().count_for(peer_.address)) co_return true;
  if constexpr (is_plain) turn_away(stream_.socket());
  co_return false;
}

// Begins the request. Returns an answer if it must not reach its handler.
template <class Stream>
std::optional<Response> StreamConnection<Stream>::admit() {
  const RequestParser& parser = reader_.parser();
  if (parser.state() == State::failed) return exchange_.refuse(parser.head(), peer_, problem_of(parser.error()));
  std::optional<Response> response = exchange_.begin(parser.head(), peer_);
  if (!response && !may_begin()) response = exchange_.answer(overloaded());
  return response;
}

// False when the connection must not be used further.
template <class Stream>
Task<bool> StreamConnection<Stream>::answer_request() {
  const bool failed = reader_.parser().state() == State::failed;
  if (failed && reader_.input().unread().starts_with("PRI * HTTP/2")) co_return false;  // we never said we speak it
  is_new_ = false;
  std::optional<Response> response = admit();
  if (!response) {
    begin_body();
    stream_.wait_for_handler(exchange_.route()->options.timeout, is_only_for_client());
    std::exception_ptr failure;
    try {
      if (exchange_.request().body_pending && !exchange_.route()->options.decides_on_head) co_await receive_body();
      Task<Response> task = exchange_.route()->handler(exchange_.request());
      response.emplace(co_await std::move(task));
    } catch (...) {
      failure = std::current_exception();
    }
    const HandlerStop stopped = stream_.waited_for_handler();
    // The handler may have answered although it was cancelled; the next steps must not be cancelled with it.
    if (stopped != HandlerStop::none)
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    if (failure) response = answer_failure(failure, stopped);
    place_.leave();
    reader_.end_body();
  }
  // Most answers go out at once; only the others need to wait.
  bool sent = send_at_once(*response);
  if (!sent) sent = co_await writer_.send_rest(*response);
  exchange_.finish(response->status, writer_.written());
  if (!sent && response->if_unsent) co_await take_back(*response);
  co_return sent&& writer_.keep();
}

template <class Stream>
void StreamConnection<Stream>::begin_body() {
  Request& request = exchange_.request();
  request.connection = this;
  reader_.begin_body();
  if (exchange_.route()->options.streamed_body) {
    request.stream = &reader_;
  } else if (reader_.parser().state() == State::body) {
    request.body_pending = !reader_.parse_body();
  }
}

// Nothing is handled while the body arrives: the place is free for others, and the handler's time begins anew
// afterwards.
template <class Stream>
Task<> StreamConnection<Stream>::receive_body() {
  place_.leave();
  std::optional<Problem> problem = co_await reader_.read_body();
  if (!problem && !may_begin()) problem = overloaded();
  Request& request = exchange_.request();
  request.body_pending = false;
  const Duration timeout = exchange_.route()->options.timeout;
  if (timeout.count() > 0) request.deadline = Deadline::after(thread_.server.clock, timeout);
  stream_.wait_for_handler(timeout, is_only_for_client());
  if (problem) throw BodyFailed(std::move(*problem));
}

// A request that changes something is finished even if its client has gone: the client will ask for the outcome.
template <class Stream>
bool StreamConnection<Stream>::is_only_for_client() {
  const Method method = exchange_.request().method;
  return (method == Method::get || method == Method::head) && !reader_.has_more();
}

template <class Stream>
bool StreamConnection<Stream>::has_hung_up() {
  return stream_.aborted() || (stream_.is_gone() && !reader_.has_more());
}

template <class Stream>
Task<> StreamConnection<Stream>::take_back(Response& response) {
  stream_.wait_for_handler(exchange_.route()->options.timeout, false);
  try {
    Task<> taking_back = response.if_unsent();
    co_await std::move(taking_back);
  } catch (const std::exception& error) {
    log::warning("undoing an unsent response failed",
                 {{"request_id", exchange_.request().request_id}, {"error", error.what()}});
  }
  if (stream_.waited_for_handler() != HandlerStop::none)
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
}

template <class Stream>
Response StreamConnection<Stream>::answer_failure(const std::exception_ptr& failure, HandlerStop stopped) {
  if (stopped == HandlerStop::hung_up) return exchange_.answer(client_gone());
  return exchange_.answer_failure(failure, stopped == HandlerStop::late || stream_.aborted());
}

template <class Stream>
bool StreamConnection<Stream>::send_at_once(Response& response) {
  const bool complete = reader_.parser().state() == State::done;
  must_linger_ = !complete;
  const bool keep = complete && reader_.parser().head().keep_alive && !is_draining() && !stream_.aborted();
  return writer_.send_at_once(response, keep);
}

template <class Stream>
Task<> StreamConnection<Stream>::close() {
  if (!is_linked()) thread_.idle.push_back(*this);
  if constexpr (!is_plain) {
    // Tells the client that the connection was closed on purpose, and not cut.
    stream_.wait_for(Wait::goodbye, config_.lingering_time);
    Error unheard;
    co_await stream_.stream().async_shutdown(asio::redirect_error(asio::use_awaitable, unheard));
    stream_.waited();
  }
  if (must_linger_) co_await linger();
  Error ignored;
  stream_.socket().shutdown(Socket::shutdown_both, ignored);
  stream_.socket().close(ignored);
}

// Closing with bytes of the client unread resets the connection, and the answer may be lost with it.
template <class Stream>
Task<> StreamConnection<Stream>::linger() {
  Error failed;
  stream_.socket().shutdown(Socket::shutdown_send, failed);
  stream_.wait_for(Wait::goodbye, config_.lingering_time);
  for (size_t seen = 0; !failed && seen < lingering_bytes && !stream_.aborted();) {
    reader_.input().clear();
    const asio::mutable_buffer room = reader_.input().room();
    seen += co_await stream_.socket().async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
  }
}

}  // namespace

void turn_away(Socket& socket) {
  static const std::string answer = [] {
    Problem problem{.status = 503,
                    .code = "too-many-connections",
                    .title = "The server has too many connections.",
                    .retry_after = Duration{1s}};
    Response response = problem.to_response("");
    const std::string& body = std::get<std::string>(response.body);
    return fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        body.size(), body);
  }();
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(answer), 0, ignored);
  socket.shutdown(Socket::shutdown_both, ignored);
}

std::unique_ptr<Connection> make_connection(ThreadState& thread, Socket socket, Address peer,
                                            ConnectionSlots::Slot slot) {
  return std::make_unique<StreamConnection<Socket>>(thread, std::move(peer), std::move(slot), std::move(socket));
}

std::unique_ptr<Connection> make_tls_connection(ThreadState& thread, Socket socket, Address peer,
                                                ConnectionSlots::Slot slot, asio::ssl::context& tls) {
  return std::make_unique<StreamConnection<TlsStream>>(thread, std::move(peer), std::move(slot), std::move(socket),
                                                       tls);
}

}  // namespace sluice::http
