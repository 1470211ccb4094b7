// The Outlet of a connection, over its socket or its TLS stream. Internal to the server.
#pragma once

#include <vector>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

#include "http/server/outlet.h"
#include "http/server/server_state.h"

namespace sluice::http {

using TlsStream = asio::ssl::stream<Socket>;

// Thousands of these are open and idle, so it holds little: the stream, the unsent bytes (usually none), and one
// pending operation that notices a disconnect. Kept alive by its operations and its owner.
template <class Stream>
class StreamOutlet : public Outlet, public std::enable_shared_from_this<StreamOutlet<Stream>> {
 public:
  StreamOutlet(std::unique_ptr<Stream> stream, ConnectionSlots::Slot slot)
      : stream_(std::move(stream)), slot_(std::move(slot)) {}

  // After construction: the first operation needs a shared owner.
  void watch() { watch_for_end(); }

  bool send(const SharedBytes& bytes) override {
    if (gone_) return false;
    size_t sent = 0;
    if constexpr (is_plain) {
      if (queue_.empty()) {
        const ssize_t result =
            ::send(stream_->native_handle(), bytes->data(), bytes->size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (result < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
          vanish();
          return false;
        }
        sent = result < 0 ? 0 : static_cast<size_t>(result);
        if (sent == bytes->size()) return true;
      }
    }
    unsent_ += bytes->size() - sent;
    queue_.push_back(bytes);
    if (queue_.size() == 1) {
      offset_ = sent;
      write_next();
    }
    return true;
  }

  size_t unsent() const override { return unsent_; }

  void finish() override {
    owner_ = nullptr;
    finishing_ = true;
    if (queue_.empty()) close();
  }

  void close() override {
    owner_ = nullptr;
    gone_ = true;
    boost::system::error_code ignored;
    socket().shutdown(Socket::shutdown_both, ignored);
    socket().close(ignored);
  }

 private:
  static constexpr bool is_plain = std::is_same_v<Stream, Socket>;

  Socket& socket() {
    if constexpr (is_plain) {
      return *stream_;
    } else {
      return stream_->next_layer();
    }
  }

  void write_next() {
    const SharedBytes& front = queue_.front();
    stream_->async_write_some(asio::buffer(front->data() + offset_, front->size() - offset_),
                              [self = this->shared_from_this()](const boost::system::error_code& error, size_t sent) {
                                self->on_written(error, sent);
                              });
  }

  void on_written(const boost::system::error_code& error, size_t sent) {
    if (gone_) return;
    if (error) return vanish();
    unsent_ -= sent;
    offset_ += sent;
    if (offset_ == queue_.front()->size()) {
      queue_.erase(queue_.begin());
      offset_ = 0;
    }
    if (!queue_.empty()) return write_next();
    std::vector<SharedBytes>().swap(queue_);
    if (finishing_) close();
  }

  // A client of an event stream sends nothing more; further input is discarded.
  void watch_for_end() {
    auto then = [self = this->shared_from_this()](const boost::system::error_code& error) { self->on_readable(error); };
    if constexpr (is_plain) {
      stream_->async_wait(Socket::wait_read, std::move(then));
    } else {
      stream_->async_read_some(asio::buffer(discard()),
                               [then = std::move(then)](const auto& error, size_t) { then(error); });
    }
  }

  void on_readable(const boost::system::error_code& error) {
    if (gone_) return;
    bool ended = static_cast<bool>(error);
    if constexpr (is_plain) {
      if (!ended) {
        const ssize_t got = ::recv(stream_->native_handle(), discard().data(), discard().size(), MSG_DONTWAIT);
        ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
      }
    }
    if (ended) return vanish();
    watch_for_end();
  }

  void vanish() {
    Owner* const owner = owner_;
    close();
    if (owner != nullptr) owner->on_gone(*this);
  }

  static std::array<char, 1024>& discard() {
    thread_local std::array<char, 1024> bytes;
    return bytes;
  }

  std::unique_ptr<Stream> stream_;
  ConnectionSlots::Slot slot_;
  std::vector<SharedBytes> queue_;  // short: its bytes are bounded by the owner
  size_t offset_ = 0;               // of the first
  size_t unsent_ = 0;
  bool gone_ = false;
  bool finishing_ = false;
};

}  // namespace sluice::http
