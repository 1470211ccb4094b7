#include "adapters/redis/client/stream.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>

#include "adapters/redis/client/redis.h"
#include "runtime/look_up.h"

namespace sluice::redis {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

bool is_address(const std::string& host) {
  error_code no_address;
  asio::ip::make_address(host, no_address);
  return !no_address;
}

Task<std::vector<asio::ip::address>> addresses_of(std::string host) {
  try {
    std::vector<asio::ip::address> found = co_await look_up(std::move(host));
    co_return found;
  } catch (const HostNotFound& error) {
    throw EngineUnavailable(engine_name, error.what());
  }
}

}  // namespace

std::unique_ptr<asio::ssl::context> make_tls(const RedisConfig& config, bool tls) {
  if (!tls) return nullptr;
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  error_code error;
  if (config.ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(config.ca_file, error);
  }
  if (error) {
    throw std::runtime_error(
        fmt::format("redis.ca_file: cannot use {}: {}. It must contain certificates in PEM format.", config.ca_file,
                    error.message()));
  }
  return context;
}

void Stream::fail_if(const error_code& error, std::string_view doing) const {
  if (!error) return;
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  throw EngineUnavailable(engine_name, fmt::format("{}: {}: {}", address_.to_string(), doing, error.message()));
}

Task<std::unique_ptr<Stream>> Stream::connect(Address address, asio::ssl::context* tls) {
  const Executor executor = co_await asio::this_coro::executor;
  std::unique_ptr<Stream> stream(new Stream(address, Socket(executor)));
  const std::vector<asio::ip::address> found = co_await addresses_of(address.host);
  error_code error = asio::error::host_not_found;
  for (const asio::ip::address& each : found) {
    error_code closed;
    stream->socket_.close(closed);
    const tcp::endpoint endpoint(each, address.port);
    co_await stream->socket_.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    if (!error || error == asio::error::operation_aborted) break;
  }
  stream->fail_if(error, "connecting");
  stream->socket_.set_option(tcp::no_delay(true), error);  // a closed socket fails at its first use
  if (tls != nullptr) co_await stream->start_tls(*tls);
  co_return stream;
}

Task<> Stream::start_tls(asio::ssl::context& context) {
  tls_.emplace(socket_, context);
  // Server names are names: an address is not allowed there (RFC 6066).
  if (!is_address(address_.host)) SSL_set_tlsext_host_name(tls_->native_handle(), address_.host.c_str());
  tls_->set_verify_mode(asio::ssl::verify_peer);
  tls_->set_verify_callback(asio::ssl::host_name_verification(address_.host));
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::client, asio::redirect_error(asio::use_awaitable, error));
  fail_if(error, "TLS handshake");
}

void Stream::write(std::string_view bytes, Done done) {
  auto finish = [done = std::move(done)](const error_code& error, size_t) mutable { done(error); };
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(bytes), std::move(finish));
  } else {
    asio::async_write(socket_, asio::buffer(bytes), std::move(finish));
  }
}

Task<> Stream::write(std::string_view bytes) {
  error_code error;
  if (tls_) {
    co_await asio::async_write(*tls_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  }
  fail_if(error, "writing");
}

Task<size_t> Stream::read(std::span<char> room) {
  error_code error;
  size_t bytes = 0;
  const auto buffer = asio::buffer(room.data(), room.size());
  if (tls_) {
    bytes = co_await tls_->async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
  } else {
    bytes = co_await socket_.async_read_some(buffer, asio::redirect_error(asio::use_awaitable, error));
  }
  fail_if(error, "reading");
  co_return bytes;
}

void Stream::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace sluice::redis
