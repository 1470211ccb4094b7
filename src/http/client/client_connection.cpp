#include "http/client/client_connection.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

#include "http/client/client_error.h"

namespace sluice::http {
namespace {

using boost::system::error_code;

constexpr size_t least_room = 16 * 1024;

void fail_unless(const error_code& error, ClientError::Kind kind, std::string_view doing) {
  if (!error) return;
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  throw CallFailed(kind, fmt::format("{}: {}", doing, error.message()));
}

bool is_address(const std::string& host) {
  error_code no_address;
  asio::ip::make_address(host, no_address);
  return !no_address;
}

}  // namespace

Task<> ClientConnection::start_tls(asio::ssl::context& context, std::string host) {
  tls_ = std::make_unique<asio::ssl::stream<Socket&>>(socket_, context);
  // Server names are names: an address is not allowed there (RFC 6066).
  if (!is_address(host)) SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
  tls_->set_verify_mode(asio::ssl::verify_peer);
  tls_->set_verify_callback(asio::ssl::host_name_verification(host));
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::client, asio::redirect_error(asio::use_awaitable, error));
  fail_unless(error, ClientError::Kind::tls, "TLS handshake");
}

Task<> ClientConnection::write(std::string_view head, std::string_view body) {
  const std::array<asio::const_buffer, 2> both{asio::buffer(head), asio::buffer(body)};
  error_code error;
  if (tls_) {
    co_await asio::async_write(*tls_, both, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await asio::async_write(socket_, both, asio::redirect_error(asio::use_awaitable, error));
  }
  fail_unless(error, ClientError::Kind::closed, "writing the request");
}

Task<bool> ClientConnection::fill() {
  make_room();
  const auto room = asio::buffer(buffer_.data() + end_, buffer_.size() - end_);
  error_code error;
  size_t bytes = 0;
  if (tls_) {
    bytes = co_await tls_->async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
  } else {
    bytes = co_await socket_.async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
  }
  end_ += bytes;
  if (error == asio::error::eof) co_return false;
  fail_unless(error, ClientError::Kind::closed, "reading the response");
  co_return true;
}

bool ClientConnection::usable() {
  if (begin_ != end_) return false;
  char byte = 0;
  const ssize_t got = recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void ClientConnection::make_room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ >= least_room) return;
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_), buffer_.begin() + static_cast<ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < least_room) buffer_.resize(end_ + 2 * least_room);
}

}  // namespace sluice::http
