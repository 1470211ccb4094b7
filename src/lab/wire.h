// One keep-alive connection of the load generator.
//
// Light on purpose, so that the generator does not distort the measurement: prepared bytes go straight to the socket,
// answers are parsed in a buffer that all connections of a thread share, headers are not kept.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/client/response_parser.h"
#include "lab/load_tally.h"

namespace sluice::lab {

// Belongs to one io_context, run by one thread. Its listener is never called from within `ask`.
class Wire {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;

  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_head(int status) = 0;
    virtual void on_body(std::string_view piece) = 0;
    virtual void on_end() = 0;
    virtual void on_failure(LoadFailure failure) = 0;
  };

  // `listener`, `scratch` and `traffic` outlive it.
  Wire(boost::asio::io_context& context, Listener& listener, std::span<char> scratch, Traffic& traffic)
      : socket_(context), listener_(listener), scratch_(scratch), traffic_(traffic) {}

  // Connects ahead of the first request; without a word to the listener if that fails.
  void open(const Endpoint& to);
  // Sends `request` (which stays in place until the answer has ended), connecting first where needed.
  void ask(const Endpoint& to, std::string_view request, bool is_head_request);
  // Drops the connection and its requests, without notifying the listener.
  void close();

 private:
  using Error = boost::system::error_code;

  void connect();
  void connected();
  void send();
  void wait();
  void read();
  void take(std::string_view bytes);
  void finish();
  void fail(LoadFailure failure);
  void fail_soon(LoadFailure failure);
  template <class Function>
  auto unless_closed(Function function);

  boost::asio::ip::tcp::socket socket_;
  Listener& listener_;
  std::span<char> scratch_;
  Traffic& traffic_;
  Endpoint to_;
  std::string_view request_;
  std::string_view unsent_;
  bool is_head_request_ = false;
  bool connected_ = false;
  bool reused_ = false;      // had carried an answer before
  bool answering_ = false;   // some of the answer has arrived
  uint64_t generation_ = 0;  // identifies events of a connection that was closed
  std::string carry_;        // bytes the parser could not use yet
  http::ResponseParser parser_{{.max_head = 64 * 1024, .keep_headers = false}};
};

}  // namespace sluice::lab
