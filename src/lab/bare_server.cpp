#include "lab/bare_server.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "http/problem.h"

namespace sluice::lab {
namespace {

using asio::ip::tcp;
using Error = boost::system::error_code;
using namespace asio::experimental::awaitable_operators;

constexpr size_t most_connections = 10'000;
constexpr Duration idle_limit = 75s;
constexpr Duration write_limit = 1min;

}  // namespace

Task<bool> BareConnection::read_request() {
  parser_.reset();
  body_.clear();
  while (true) {
    const size_t used = buffer_.empty() ? 0 : parser_.parse(buffer_, body_);
    buffer_.erase(0, used);
    if (parser_.state() == http::RequestParser::State::done) co_return true;
    if (parser_.state() == http::RequestParser::State::failed) co_return false;
    if (used > 0 && !buffer_.empty()) continue;  // the head is done; its body follows
    const bool more = co_await readable_within(idle_limit);
    if (!more) co_return false;
    std::array<char, 4096> piece;
    Error error;
    const size_t got = socket_.read_some(asio::buffer(piece), error);
    if (error) co_return false;
    buffer_.append(piece.data(), got);
  }
}

Task<bool> BareConnection::send(Reply reply) {
  const bool keep = parser_.head().keep_alive && !reply.half;
  const bool is_head = parser_.head().method == http::Method::head;
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}\r\n", reply.status,
                                  http::reason_phrase(reply.status), reply.content_type, reply.body.size(),
                                  reply.more_headers, keep ? "" : "Connection: close\r\n");
  if (!is_head) bytes.append(reply.body, 0, reply.half ? reply.body.size() / 2 : reply.body.size());
  const bool sent = co_await write(std::move(bytes));
  co_return sent&& keep;
}

Task<bool> BareConnection::write(std::string bytes) {
  Error error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const auto sent = co_await (asio::async_write(socket_, asio::buffer(bytes), token) || clock_.sleep_for(write_limit));
  co_return sent.index() == 0 && !error;
}

// False when the time is up first.
Task<bool> BareConnection::readable_within(Duration limit) {
  Error error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const auto first = co_await (socket_.async_wait(tcp::socket::wait_read, token) || clock_.sleep_for(limit));
  co_return first.index() == 0 && !error;
}

Task<bool> BareConnection::still_there_after(Duration delay) {
  if (delay == Duration{0}) co_return true;
  const Instant until = clock_.now() + delay;
  const bool readable = co_await readable_within(delay);
  if (!readable) co_return true;
  char next = 0;
  Error error;
  const size_t got = socket_.receive(asio::buffer(&next, 1), tcp::socket::message_peek, error);
  if (error || got == 0) co_return false;
  co_await clock_.sleep_until(until);  // it sent its next request already: wait without looking
  co_return true;
}

BareServer::BareServer(asio::io_context& context, Clock& clock, Answer answer)
    : clock_(clock), answer_(std::move(answer)), acceptor_(context), scope_(context.get_executor()) {}

std::string BareServer::start(const tcp::endpoint& at) {
  acceptor_.open(at.protocol());
  acceptor_.set_option(asio::socket_base::reuse_address(true));
  acceptor_.bind(at);
  acceptor_.listen();
  scope_.spawn("accept", accept());
  const tcp::endpoint bound = acceptor_.local_endpoint();
  const std::string host = bound.address().to_string();
  return bound.address().is_v6() ? fmt::format("http://[{}]:{}", host, bound.port())
                                 : fmt::format("http://{}:{}", host, bound.port());
}

Task<> BareServer::close() {
  Error ignored;
  acceptor_.close(ignored);
  co_await scope_.close();
}

Task<> BareServer::accept() {
  while (acceptor_.is_open()) {
    tcp::socket socket(acceptor_.get_executor());
    Error failed;
    co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (!acceptor_.is_open()) co_return;
    if (failed || scope_.running() > most_connections) {
      co_await clock_.sleep_for(100ms);  // those that are open will close
      continue;
    }
    socket.set_option(tcp::no_delay(true), failed);
    scope_.spawn("connection", serve(std::move(socket)));
  }
}

Task<> BareServer::serve(tcp::socket socket) {
  BareConnection connection(clock_, std::move(socket));
  bool keep = true;
  while (keep) {
    const bool complete = co_await connection.read_request();
    if (!complete) co_return;
    keep = co_await answer_(connection);
  }
}

}  // namespace sluice::lab
