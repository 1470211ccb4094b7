// A server that answers as badly as a test wants: bytes as given, cut off, stalled, or reset.
//
//   ScriptedServer server([](const ScriptedServer::Call& call) {
//     return ScriptedServer::Reply{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", .then = Then::close};
//   });
//   client.send({.url = *Url::parse(server.url("/"))});
//
// It reads whole requests (a head and Content-Length bytes) and knows nothing else of HTTP. Runs on a thread of its
// own; the script is called there, one call at a time.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/time.h"
#include "runtime/task_scope.h"

namespace sluice::test {

class ScriptedServer {
 public:
  enum class Then {
    keep,   // read the next request
    close,  // in good order
    reset,
    stall,  // until the other side leaves
  };
  struct Reply {
    std::string bytes;
    Then then = Then::keep;
    Duration delay{0};  // before anything is sent
  };
  struct Call {
    std::string request;   // head and body
    size_t connection;     // counted from 0
    size_t on_connection;  // how many requests this connection has carried before
  };
  using Script = std::function<Reply(const Call&)>;

  struct Options {
    asio::ssl::context* tls = nullptr;  // outlives the server
    bool read_bodies = true;            // of requests, before the script is asked
  };

  explicit ScriptedServer(Script script) : ScriptedServer(std::move(script), Options{}) {}
  ScriptedServer(Script script, Options options);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  uint16_t port() const { return port_; }
  // On 127.0.0.1, or on `host` where the test cares for the name.
  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const;

  // The requests so far. Safe from any thread.
  std::vector<std::string> requests() const;
  size_t connections() const;

 private:
  using Socket = asio::ip::tcp::socket;
  Task<> accept();
  Task<> serve(Socket socket, size_t connection);
  template <class Stream>
  Task<> converse(Stream& stream, Socket& socket, size_t connection);
  Reply answer(const Call& call);

  Script script_;
  Options options_;
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_;
  uint16_t port_;
  TaskScope scope_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  size_t connections_ = 0;
  std::thread thread_;
};

}  // namespace sluice::test
