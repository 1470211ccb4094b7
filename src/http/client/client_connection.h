// One connection to another server, plain or TLS, with the bytes that arrived and were not read yet.
#pragma once

#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "runtime/task.h"

namespace sluice::http {

// Belongs to one executor. Failures are CallFailed; being cancelled is Asio's operation_aborted, after which the
// connection can only be dropped.
class ClientConnection {
 public:
  using Socket = asio::ip::tcp::socket;

  explicit ClientConnection(Socket socket) : socket_(std::move(socket)) {}
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Proves that the other side is `host` by a certificate that `context` trusts.
  Task<> start_tls(asio::ssl::context& context, std::string host);

  // Both views stay valid until it returns.
  Task<> write(std::string_view head, std::string_view body);

  std::string_view unread() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(size_t bytes) { begin_ += bytes; }
  // Waits for more unread bytes. False when the other side has closed in good order.
  Task<bool> fill();

  // Whether a connection that lay idle can be used: still open, with nothing unexpected in it.
  bool usable();

 private:
  void make_room();

  Socket socket_;
  std::unique_ptr<asio::ssl::stream<Socket&>> tls_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace sluice::http
