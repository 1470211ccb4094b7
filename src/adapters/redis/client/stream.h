// A socket to a Redis, with TLS or without.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "adapters/redis/client/redis_config.h"
#include "runtime/task.h"

namespace sluice::redis {

// Null if the URL does not use TLS. Throws std::runtime_error with one sentence if the CA file is unusable.
std::unique_ptr<asio::ssl::context> make_tls(const RedisConfig& config, bool tls);

// Belongs to one executor. Failures are EngineUnavailable with the address.
class Stream {
 public:
  // `tls` null: without. The server's certificate must be for the address's host.
  static Task<std::unique_ptr<Stream>> connect(Address address, asio::ssl::context* tls);

  // Writes all of `bytes`, which must stay until `done` is called. One at a time.
  using Done = std::move_only_function<void(const boost::system::error_code&)>;
  void write(std::string_view bytes, Done done);
  // The same, awaited.
  Task<> write(std::string_view bytes);

  // At least one byte. Throws when the other side has closed.
  Task<size_t> read(std::span<char> room);

  // Running operations end with an error.
  void close();

 private:
  using Socket = asio::ip::tcp::socket;
  Stream(Address address, Socket socket) : address_(std::move(address)), socket_(std::move(socket)) {}
  Task<> start_tls(asio::ssl::context& context);
  void fail_if(const boost::system::error_code& error, std::string_view doing) const;

  Address address_;
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace sluice::redis
