#include "http/client/client_connector.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>

#include "http/client/client.h"

namespace sluice::http {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

}  // namespace

ClientConnector::ClientConnector(Executor executor, Clock& clock, const ClientOptions& options)
    : clock_(clock), options_(options), resolver_(std::move(executor), clock, options.resolver) {
  if (!options_.ca_file.empty()) prepare_tls();
}

void ClientConnector::prepare_tls() {
  tls_.emplace(asio::ssl::context::tls_client);
  tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                    asio::ssl::context::no_tlsv1_1);
  error_code error;
  if (options_.ca_file.empty()) {
    tls_->set_default_verify_paths(error);
  } else {
    tls_->load_verify_file(options_.ca_file, error);
  }
  if (error) {
    throw std::runtime_error(fmt::format("Cannot use the CA file {}: {}. It must contain certificates in PEM format.",
                                         options_.ca_file, error.message()));
  }
}

Task<std::unique_ptr<ClientConnection>> ClientConnector::connect(const Url& url) {
  const std::vector<Endpoint> endpoints = co_await allowed_endpoints(url);
  std::optional<CallFailed> failed;
  for (const Endpoint& endpoint : endpoints) {
    std::unique_ptr<ClientConnection> connection;
    try {
      Task<tcp::socket> attempt = connect_to(endpoint);
      const Deadline deadline = Deadline::after(clock_, options_.connect_timeout);
      tcp::socket socket = co_await with_deadline(clock_, deadline, url.authority(), std::move(attempt));
      connection = std::make_unique<ClientConnection>(std::move(socket));
    } catch (const CallFailed& failure) {
      failed = failure;
      continue;
    } catch (const DeadlineExceeded&) {
      failed = CallFailed(ClientError::Kind::timeout, fmt::format("connecting to {}: timed out", url.origin()));
      continue;
    }
    if (url.secure()) {
      if (!tls_) prepare_tls();
      co_await connection->start_tls(*tls_, url.host());
    }
    co_return connection;
  }
  throw *failed;
}

Task<std::vector<tcp::endpoint>> ClientConnector::endpoints_of(std::string host, uint16_t port) {
  std::vector<Endpoint> endpoints;
  try {
    const auto addresses = co_await resolver_.look_up(std::move(host));
    for (const auto& address : addresses) endpoints.emplace_back(address, port);
  } catch (const HostNotFound& error) {
    throw CallFailed(ClientError::Kind::dns, error.what());
  } catch (const Overloaded& error) {
    throw CallFailed(ClientError::Kind::busy, error.what());
  }
  co_return endpoints;
}

Task<std::vector<tcp::endpoint>> ClientConnector::allowed_endpoints(const Url& url) {
  std::vector<Endpoint> endpoints;
  if (options_.reach == Reach::public_and_loopback && url.host().ends_with(".test")) {
    endpoints.emplace_back(asio::ip::address_v4::loopback(), url.port());
  } else {
    endpoints = co_await endpoints_of(url.host(), url.port());
  }
  if (endpoints.empty())
    throw CallFailed(ClientError::Kind::dns, fmt::format("{} does not resolve to an address", url.host()));
  const Reach reach = options_.reach;
  std::erase_if(endpoints, [reach](const Endpoint& endpoint) { return !allowed(reach, endpoint.address()); });
  if (endpoints.empty()) {
    throw CallFailed(ClientError::Kind::forbidden_address,
                     fmt::format("{} resolves to forbidden addresses", url.host()));
  }
  co_return endpoints;
}

Task<tcp::socket> ClientConnector::connect_to(Endpoint endpoint) {
  const Executor executor = co_await asio::this_coro::executor;
  tcp::socket socket(executor);
  error_code error;
  co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) {
    throw CallFailed(ClientError::Kind::refused, fmt::format("connecting to {}:{}: {}", endpoint.address().to_string(),
                                                             endpoint.port(), error.message()));
  }
  socket.set_option(tcp::no_delay(true), error);  // a connection that is gone already says so when it is used
  co_return socket;
}

}  // namespace sluice::http
