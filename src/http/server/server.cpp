#include "http/server/server.h"

#include <future>
#include <latch>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include "base/check.h"
#include "http/server/listener.h"
#include "http/tls.h"
#include "runtime/log.h"

namespace sluice::http {
namespace {

asio::ip::address parse_host(const std::string& host) {
  if (host == "localhost") return asio::ip::address_v4::loopback();
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(host, bad);
  if (bad) throw std::invalid_argument("http.host: '" + host + "' is not an IP address; use 127.0.0.1, 0.0.0.0 or ::");
  return address;
}

// SO_REUSEPORT, which lets our threads share the port, would let a second server share it too, and each would get some
// of the requests. Without the option binding fails if the port is in use.
void expect_nobody_listens(asio::io_context& context, const asio::ip::tcp::endpoint& endpoint) {
  asio::ip::tcp::acceptor probe(context);
  probe.open(endpoint.protocol());
  probe.set_option(asio::socket_base::reuse_address(true));
  probe.bind(endpoint);
}

}  // namespace

class Server::Parts {
 public:
  Parts(ServerConfig config, Router router, IoThreads& threads, Clock& clock)
      : server(std::move(config), std::move(router), clock),
        host(parse_host(server.config.host)),
        threads_(threads),
        tls_(make_tls_context(server.config.tls_certificate, server.config.tls_key)) {
    for (size_t i = 0; i < threads.size(); ++i) {
      listeners_.push_back(std::make_unique<Listener>(server, threads.context(i), tls_));
    }
  }

  void start();
  void reload_certificate();
  void drain(Duration patience);
  bool secure() const { return tls_ != nullptr; }

  ServerState server;
  asio::ip::address host;
  uint16_t port = 0;

 private:
  // Calls `function` with every listener, on its thread.
  template <class Function>
  void on_every_thread(Function function) {
    for (size_t i = 0; i < listeners_.size(); ++i) {
      asio::post(threads_.context(i), [function, &listener = *listeners_[i]] { function(listener); });
    }
  }

  IoThreads& threads_;
  std::shared_ptr<asio::ssl::context> tls_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  bool running_ = false;
};

void Server::Parts::start() {
  check(!running_, "the server is started twice");
  port = server.config.port;
  try {
    if (port != 0) expect_nobody_listens(threads_.context(0), {host, port});
    for (const auto& listener : listeners_) {
      listener->open({host, port});
      port = listener->port();
    }
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}; choose another with --listen HOST:PORT",
                                         server.config.host, port, error.code().message()));
  }
  running_ = true;
  on_every_thread([](Listener& listener) { listener.run(); });
}

void Server::Parts::reload_certificate() {
  const ServerConfig& config = server.config;
  if (!secure()) return log::info("no certificate to reload: TLS is not configured");
  try {
    tls_ = make_tls_context(config.tls_certificate, config.tls_key);
  } catch (const std::invalid_argument& error) {
    return log::error("reloading the certificate failed; the old one stays in use", {{"error", error.what()}});
  }
  std::latch used(static_cast<std::ptrdiff_t>(listeners_.size()));
  on_every_thread([this, &used](Listener& listener) {
    listener.use(tls_);
    used.count_down();
  });
  used.wait();
  log::info("certificate reloaded", {{"file", config.tls_certificate}, {"expires", expiry_of(*tls_)}});
}

void Server::Parts::drain(Duration patience) {
  if (!running_) return;
  running_ = false;
  server.draining = true;
  on_every_thread([](Listener& listener) { listener.drain(); });
  std::vector<std::future<void>> closed;
  for (size_t i = 0; i < listeners_.size(); ++i) {
    closed.push_back(asio::co_spawn(threads_.context(i), listeners_[i]->close(), asio::use_future));
  }
  const auto until = std::chrono::steady_clock::now() + patience;  // allowed: a real thread waits
  const bool in_time = std::ranges::all_of(closed, [until](const std::future<void>& future) {
    return future.wait_until(until) == std::future_status::ready;
  });
  if (!in_time) on_every_thread([](Listener& listener) { listener.abort(); });
  for (std::future<void>& future : closed) future.get();
}

Server::Server(ServerConfig config, Router router, IoThreads& threads, Clock& clock)
    : parts_(std::make_unique<Parts>(std::move(config), std::move(router), threads, clock)) {}

Server::~Server() {
  parts_->drain(Duration{0});
}

void Server::start() {
  parts_->start();
}

uint16_t Server::port() const {
  return parts_->port;
}

std::string Server::url() const {
  const std::string host = parts_->host.is_v6() ? "[" + parts_->host.to_string() + "]" : parts_->host.to_string();
  return fmt::format("{}://{}:{}", parts_->secure() ? "https" : "http", host, parts_->port);
}

const Router& Server::router() const {
  return parts_->server.router;
}

void Server::reload_certificate() {
  parts_->reload_certificate();
}

void Server::drain(Duration patience) {
  parts_->drain(patience);
}

}  // namespace sluice::http
