// Makes connections: name, address guard, connect, TLS.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include "http/client/client_connection.h"
#include "http/url.h"
#include "runtime/clock.h"
#include "runtime/resolver.h"

namespace sluice::http {

struct ClientOptions;

// Belongs to one executor; `clock` and `options` outlive it.
class ClientConnector {
 public:
  // Throws std::runtime_error if the CA file is unusable.
  ClientConnector(Executor executor, Clock& clock, const ClientOptions& options);

  // Tries the addresses of the URL's host in order and returns the first connection that stands. Throws CallFailed.
  Task<std::unique_ptr<ClientConnection>> connect(const Url& url);

 private:
  using Endpoint = asio::ip::tcp::endpoint;
  Task<std::vector<Endpoint>> endpoints_of(std::string host, uint16_t port);
  Task<std::vector<Endpoint>> allowed_endpoints(const Url& url);
  Task<asio::ip::tcp::socket> connect_to(Endpoint endpoint);
  void prepare_tls();

  Clock& clock_;
  const ClientOptions& options_;
  Resolver resolver_;
  std::optional<asio::ssl::context> tls_;  // created on first use: reading the system's certificates is slow
};

}  // namespace sluice::http
