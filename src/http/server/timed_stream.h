// A connection's stream, and how long it may keep us waiting. Internal to the server.
//
// A connection is one coroutine. It waits for one thing at a time, so one entry in the thread's timer wheel is enough,
// and nothing else is paid for a limit until it is reached.
//
// An expired limit is a state, not an event: cancelling a read does nothing if its bytes have just arrived. So
// `is_late` holds until the next wait begins and is checked after every read, and the read is cancelled again with
// every tick until then. If nothing more is to be read, the socket is closed instead, which always takes effect.
//
// Clients must read their answers. A waiting write is checked every `write_timeout`, and a client that took less than
// `min_write_rate` in that time is dropped. Only acknowledged bytes count: the socket may take megabytes at once and
// then nothing for long, while an honest reader works through them. A check compares with the previous one, so the
// first may count earlier answers and be too lenient; the second is not.
//
// A client that hangs up while its request is handled is noticed by a look now and then, too.
#pragma once

#include <memory>
#include <string_view>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/redirect_error.hpp>

#include "http/server/server_state.h"
#include "http/server/socket_calls.h"
#include "runtime/task.h"

namespace sluice::http {

// `handshake` and `goodbye` are before the first request and after the last answer.
enum class Wait { nothing, handshake, idle, head, body, handler, write, goodbye };

// Why a handler was cancelled.
enum class HandlerStop { none, late, hung_up };

// Belongs to one connection and its thread. `cancel` stops the handler of that connection.
template <class Stream>
class TimedStream final : private TimerWheel::Entry {
 public:
  using Error = boost::system::error_code;
  static constexpr bool is_plain = std::is_same_v<Stream, Socket>;

  template <class... Args>
  TimedStream(ThreadState& thread, asio::cancellation_signal& cancel, Args&&... args)
      : thread_(thread), cancel_(cancel), stream_(std::make_unique<Stream>(std::forward<Args>(args)...)) {}

  Stream& stream() { return *stream_; }
  Socket& socket() {
    if constexpr (is_plain) {
      return *stream_;
    } else {
      return stream_->next_layer();
    }
  }
  // For a takeover; only `has_stream` may be called afterwards.
  std::unique_ptr<Stream> release() {
    thread_.wheel.clear(*this);
    return std::move(stream_);
  }
  bool has_stream() const { return stream_ != nullptr; }

  void wait_for(Wait what, Duration timeout) {
    waiting_for_ = what;
    is_late_ = false;
    thread_.wheel.set(*this, timeout);
  }
  // Cancels the handler when `timeout` is over, and where `only_for_client` also when the client has hung up.
  void wait_for_handler(Duration timeout, bool only_for_client);
  void waited() { waiting_for_ = Wait::nothing; }
  Wait waiting_for() const { return waiting_for_; }
  // Whether the limit of the last wait has passed. For handlers see `waited_for_handler`.
  bool is_late() const { return is_late_; }
  // Whether the handler was cancelled, even where it read a body after that. Told once; the caller resets the
  // coroutine's cancellation state.
  HandlerStop waited_for_handler() {
    waited();
    return std::exchange(stopped_, HandlerStop::none);
  }

  // Whether the other side has closed the connection, or its half of it.
  bool is_gone();

  void abort();
  bool aborted() const { return aborted_; }

  // Awaitable; how much came.
  auto read_some(asio::mutable_buffer room, Error& failed) {
    return stream_->async_read_some(room, asio::redirect_error(asio::use_awaitable, failed));
  }
  // How much of both went out at once, without waiting. TLS needs its own machinery and always waits.
  size_t write_now(std::string_view head, std::string_view body);
  // Both, but for the first `done` bytes. False when the connection broke.
  Task<bool> write(std::string_view head, std::string_view body = {}, size_t done = 0);
  // Bytes, since the connection began.
  uint64_t sent() const { return sent_; }

 private:
  void on_timeout() override;
  void look_after_handler();
  void stop_handler(HandlerStop why);
  bool is_reading();

  ThreadState& thread_;
  asio::cancellation_signal& cancel_;
  std::unique_ptr<Stream> stream_;
  Wait waiting_for_ = Wait::nothing;
  bool is_late_ = false;
  HandlerStop stopped_ = HandlerStop::none;
  bool aborted_ = false;
  bool looking_ = false;     // the wheel's time is that of a look, and the handler's is longer
  Duration handler_time_{};  // from the last look on; not positive: no limit
  Instant looked_{};         // at the handler's client
  uint64_t sent_ = 0;
  int64_t taken_ = 0;  // of sent_, by the other side, at the last look
};

template <class Stream>
void TimedStream<Stream>::wait_for_handler(Duration timeout, bool only_for_client) {
  const Duration look = thread_.server.config.hang_up_check;
  looking_ = only_for_client && (timeout.count() <= 0 || timeout > look);
  handler_time_ = timeout;
  looked_ = {};
  wait_for(Wait::handler, looking_ ? look : timeout);
}

template <class Stream>
void TimedStream<Stream>::on_timeout() {
  Error ignored;
  switch (waiting_for_) {
    case Wait::nothing: break;
    case Wait::idle:
    case Wait::head:
    case Wait::body:
      is_late_ = true;
      socket().cancel(ignored);
      thread_.wheel.set(*this, thread_.wheel.tick());
      break;
    case Wait::handler:
      if (looking_) return look_after_handler();
      stop_handler(HandlerStop::late);
      break;
    case Wait::write:
      if (is_reading()) return thread_.wheel.set(*this, thread_.server.config.write_timeout);
      count_rejected("slow_reader");
      [[fallthrough]];
    case Wait::handshake:
    case Wait::goodbye:
      is_late_ = true;
      socket().close(ignored);
      break;
  }
}

// Asio keeps this as a state: the next await of the handler throws.
template <class Stream>
void TimedStream<Stream>::stop_handler(HandlerStop why) {
  stopped_ = why;
  cancel_.emit(asio::cancellation_type::terminal);
}

template <class Stream>
void TimedStream<Stream>::look_after_handler() {
  if (is_gone()) return stop_handler(HandlerStop::hung_up);
  // The clock is asked from the first look on; a handler that is quicker has not paid for it.
  const Duration look = thread_.server.config.hang_up_check;
  const Instant now = thread_.server.clock.now();
  const bool first = looked_ == Instant{};
  if (handler_time_.count() > 0) {
    const Duration spent = first ? look : std::chrono::floor<Duration>(now - looked_);
    handler_time_ = std::max(Duration{1}, handler_time_ - spent);
    looking_ = handler_time_ > look;
  }
  looked_ = now;
  thread_.wheel.set(*this, looking_ ? look : handler_time_);
}

// A half-closed connection counts as closed, as in other servers: the two are indistinguishable. This does not hold if
// there is more to read: a client that pipelines its next request may have closed its half after it. With TLS, the
// readable bytes are the close notification.
template <class Stream>
bool TimedStream<Stream>::is_gone() {
  const int descriptor = socket().native_handle();
  return has_hung_up(descriptor) && !(is_plain && has_unread(descriptor));
}

template <class Stream>
bool TimedStream<Stream>::is_reading() {
  const std::optional<size_t> on_the_way = unacknowledged(socket().native_handle());
  if (!on_the_way) return false;
  const ServerConfig& config = thread_.server.config;
  const int64_t taken = static_cast<int64_t>(sent_) - static_cast<int64_t>(*on_the_way);
  const double wanted =
      std::chrono::duration<double>(config.write_timeout).count() * static_cast<double>(config.min_write_rate);
  return static_cast<double>(taken - std::exchange(taken_, taken)) >= wanted;
}

template <class Stream>
void TimedStream<Stream>::abort() {
  aborted_ = true;
  Error ignored;
  if (stream_) socket().close(ignored);
  cancel_.emit(asio::cancellation_type::terminal);
}

template <class Stream>
size_t TimedStream<Stream>::write_now(std::string_view head, std::string_view body) {
  if constexpr (!is_plain) return 0;
  const size_t sent = send_now(socket().native_handle(), head, body);
  sent_ += sent;
  return sent;
}

template <class Stream>
Task<bool> TimedStream<Stream>::write(std::string_view head, std::string_view body, size_t done) {
  const size_t total = head.size() + body.size();
  wait_for(Wait::write, thread_.server.config.write_timeout);
  while (done < total) {
    const std::array<asio::const_buffer, 2> rest{
        asio::buffer(head.substr(std::min(done, head.size()))),
        asio::buffer(body.substr(done > head.size() ? done - head.size() : 0))};
    Error failed;
    const size_t sent = co_await stream_->async_write_some(rest, asio::redirect_error(asio::use_awaitable, failed));
    done += sent;
    sent_ += sent;
    if (failed) break;
  }
  waited();
  co_return done == total && !aborted_;
}

}  // namespace sluice::http
