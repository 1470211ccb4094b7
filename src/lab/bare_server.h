// HTTP over bare sockets, for simulated servers.
//
// The server engine (http/) keeps every promise, and simulated servers must not: they stall, break off, send without
// end, and notice at once when the other side disconnects, so that the connections they report as open really are.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/server/request_parser.h"
#include "runtime/clock.h"
#include "runtime/task_scope.h"

namespace sluice::lab {

struct Reply {
  int status = 200;
  std::string content_type = "text/html; charset=utf-8";
  std::string body{};
  std::string more_headers{};  // whole lines
  bool half = false;           // of the body, then closed
};

// One client, kept alive between requests unless an answer breaks off.
class BareConnection {
 public:
  BareConnection(Clock& clock, asio::ip::tcp::socket socket) : clock_(clock), socket_(std::move(socket)) {}

  // False if there is none: the other side has disconnected, is silent for long, or sends something other than a
  // request.
  Task<bool> read_request();
  const http::RequestHead& head() const { return parser_.head(); }
  const std::string& body() const { return body_; }

  // Both are false when the connection is not to be used further.
  Task<bool> send(Reply reply);
  Task<bool> write(std::string bytes);

  // False as soon as the other side has hung up.
  Task<bool> still_there_after(Duration delay);

 private:
  Task<bool> readable_within(Duration limit);

  Clock& clock_;
  asio::ip::tcp::socket socket_;
  http::RequestParser parser_{{}};
  std::string buffer_;
  std::string body_;
};

// Belongs to one io_context, run by one thread.
class BareServer {
 public:
  // Answers the request that was read; false to close the connection.
  using Answer = std::function<Task<bool>(BareConnection&)>;

  // `clock` outlives it.
  BareServer(asio::io_context& context, Clock& clock, Answer answer);

  // Binds, accepts from now on, and returns "http://127.0.0.1:8080". Throws boost::system::system_error.
  std::string start(const asio::ip::tcp::endpoint& at);
  // Closes all connections.
  Task<> close();

 private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket socket);

  Clock& clock_;
  Answer answer_;
  asio::ip::tcp::acceptor acceptor_;
  TaskScope scope_;
};

}  // namespace sluice::lab
