#include "tests/support/scripted_server.h"

#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace sluice::test {
namespace {

using asio::ip::tcp;

size_t content_length(std::string_view head) {
  const size_t at = head.find("\r\nContent-Length: ");
  return at == std::string_view::npos ? 0 : std::stoul(std::string(head.substr(at + 18, 20)));
}

// Closing with a request not read to its end resets the connection, and the kernel drops unsent bytes.
Task<> until_arrived(tcp::socket& socket) {
  int left = 0;
  while (ioctl(socket.native_handle(), SIOCOUTQ, &left) == 0 && left > 0) {
    co_await asio::post(socket.get_executor(), asio::use_awaitable);
  }
}

template <class Stream>
Task<std::string> read_request(Stream& stream, std::string& buffer, bool with_body) {
  const size_t head =
      co_await asio::async_read_until(stream, asio::dynamic_buffer(buffer), "\r\n\r\n", asio::use_awaitable);
  const size_t whole = head + (with_body ? content_length(std::string_view(buffer).substr(0, head)) : 0);
  if (buffer.size() < whole) {
    co_await asio::async_read(stream, asio::dynamic_buffer(buffer), asio::transfer_at_least(whole - buffer.size()),
                              asio::use_awaitable);
  }
  std::string request = buffer.substr(0, whole);
  buffer.erase(0, whole);
  co_return request;
}

}  // namespace

ScriptedServer::ScriptedServer(Script script, Options options)
    : script_(std::move(script)),
      options_(options),
      acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      port_(acceptor_.local_endpoint().port()),
      scope_(context_.get_executor()) {
  scope_.spawn("accept", accept());
  thread_ = std::thread([this] { context_.run(); });
}

ScriptedServer::~ScriptedServer() {
  asio::post(context_, [this] { scope_.cancel(); });
  thread_.join();
}

std::string ScriptedServer::url(const std::string& path, const std::string& host) const {
  return fmt::format("{}://{}:{}{}", options_.tls == nullptr ? "http" : "https", host, port_, path);
}

std::vector<std::string> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t ScriptedServer::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

Task<> ScriptedServer::accept() {
  while (true) {
    tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
    size_t connection = 0;
    {
      const std::lock_guard lock(mutex_);
      connection = connections_++;
    }
    scope_.spawn("serve", serve(std::move(socket), connection));
  }
}

Task<> ScriptedServer::serve(Socket socket, size_t connection) {
  try {
    if (options_.tls == nullptr) {
      co_await converse(socket, socket, connection);
    } else {
      asio::ssl::stream<Socket&> stream(socket, *options_.tls);
      co_await stream.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
      co_await converse(stream, socket, connection);
      co_await stream.async_shutdown(asio::use_awaitable);
    }
  } catch (const boost::system::system_error&) {
    // The other side left, which tests make it do.
  }
}

template <class Stream>
Task<> ScriptedServer::converse(Stream& stream, Socket& socket, size_t connection) {
  std::string buffer;
  for (size_t exchanges = 0;; ++exchanges) {
    Call call{.request = {}, .connection = connection, .on_connection = exchanges};
    call.request = co_await read_request(stream, buffer, options_.read_bodies);
    const Reply reply = answer(call);
    if (reply.delay > 0s) {
      asio::steady_timer timer(socket.get_executor(), reply.delay);
      co_await timer.async_wait(asio::use_awaitable);
    }
    co_await asio::async_write(stream, asio::buffer(reply.bytes), asio::use_awaitable);
    switch (reply.then) {
      case Then::keep: break;
      case Then::close: co_await until_arrived(socket); co_return;
      case Then::reset:
        socket.set_option(asio::socket_base::linger(true, 0));
        socket.close();
        co_return;
      case Then::stall: co_await asio::async_read(stream, asio::dynamic_buffer(buffer), asio::use_awaitable); co_return;
    }
  }
}

ScriptedServer::Reply ScriptedServer::answer(const Call& call) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(call.request);
  }
  return script_(call);
}

}  // namespace sluice::test
