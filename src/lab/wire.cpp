#include "lab/wire.h"

#include <boost/asio/post.hpp>
#include <sys/socket.h>

namespace sluice::lab {

using Event = http::ResponseParser::Event;

// Completions that were already under way when the connection was closed must not reach the next one.
template <class Function>
auto Wire::unless_closed(Function function) {
  return [this, generation = generation_, function](const auto&... arguments) {
    if (generation == generation_) function(arguments...);
  };
}

void Wire::open(const Endpoint& to) {
  socket_.async_connect(to, unless_closed([this](const Error& error) { error ? close() : connected(); }));
}

void Wire::ask(const Endpoint& to, std::string_view request, bool is_head_request) {
  to_ = to;
  request_ = request;
  unsent_ = request;
  is_head_request_ = is_head_request;
  answering_ = false;
  parser_.start(is_head_request_);
  if (connected_) {
    send();
  } else {
    if (socket_.is_open()) close();  // was being opened ahead, in vain so far
    connect();
  }
}

void Wire::close() {
  ++generation_;
  connected_ = false;
  reused_ = false;
  carry_.clear();
  Error ignored;
  socket_.close(ignored);
}

void Wire::connect() {
  socket_.async_connect(to_, unless_closed([this](const Error& error) {
                          if (error) return fail(LoadFailure::connect);
                          connected();
                          send();
                        }));
}

void Wire::connected() {
  Error ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  connected_ = true;
  ++traffic_.connections;
}

void Wire::send() {
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(socket_.native_handle(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      socket_.async_wait(socket_.wait_write, unless_closed([this](const Error&) { send(); }));
      return;
    }
    if (sent < 0) return fail_soon(LoadFailure::closed);
    traffic_.sent += static_cast<uint64_t>(sent);
    unsent_.remove_prefix(static_cast<size_t>(sent));
  }
  wait();
}

void Wire::wait() {
  socket_.async_wait(socket_.wait_read, unless_closed([this](const Error&) { read(); }));
}

void Wire::read() {
  const ssize_t got = ::recv(socket_.native_handle(), scratch_.data(), scratch_.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return wait();
  if (got < 0) return fail(LoadFailure::closed);
  if (got == 0) {
    if (answering_ && parser_.closed() == Event::end) return finish();
    return fail(LoadFailure::closed);
  }
  answering_ = true;
  traffic_.received += static_cast<uint64_t>(got);
  take({scratch_.data(), static_cast<size_t>(got)});
}

void Wire::take(std::string_view bytes) {
  const uint64_t generation = generation_;
  const auto gone = [this, generation] { return generation != generation_; };
  if (!carry_.empty()) {
    carry_ += bytes;
    bytes = carry_;
  }
  while (true) {
    const auto step = parser_.next(bytes);
    bytes.remove_prefix(step.consumed);
    switch (step.event) {
      case Event::head: listener_.on_head(parser_.status()); break;
      case Event::body: listener_.on_body(step.piece); break;
      case Event::interim: break;
      case Event::bad:
      case Event::too_large: return fail(LoadFailure::bad_answer);
      case Event::end:
        if (!bytes.empty()) return fail(LoadFailure::bad_answer);
        return finish();
      case Event::need_more: carry_ = std::string(bytes); return wait();
    }
    if (gone()) return;  // the listener closed it
  }
}

void Wire::finish() {
  carry_.clear();
  if (parser_.keep_alive()) {
    reused_ = true;
  } else {
    close();
  }
  listener_.on_end();
}

void Wire::fail(LoadFailure failure) {
  // A server may close a kept connection at any time; that is no failure until a new one fails as well.
  const bool stale = failure == LoadFailure::closed && reused_ && !answering_;
  close();
  if (stale) {
    ++traffic_.reconnects;
    ask(to_, request_, is_head_request_);
  } else {
    listener_.on_failure(failure);
  }
}

void Wire::fail_soon(LoadFailure failure) {
  boost::asio::post(socket_.get_executor(), unless_closed([this, failure] { fail(failure); }));
}

}  // namespace sluice::lab
