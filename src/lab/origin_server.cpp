#include "lab/origin_server.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "base/json.h"
#include "documents/sample_layouts.h"
#include "http/problem.h"
#include "http/request_parser.h"

namespace sluice::lab {
namespace {

using asio::ip::tcp;
using Error = boost::system::error_code;
using namespace asio::experimental::awaitable_operators;

constexpr size_t most_connections = 10'000;
constexpr Duration idle_limit = 75s;
constexpr Duration stall_limit = 1h;
constexpr Duration write_limit = 1min;

constexpr std::string_view error_page =
    "<!DOCTYPE html>\n<html><head><title>Error</title></head>\n"
    "<body>The service is busy.<br>Please try again later.</body></html>\n";
constexpr std::string_view disguised_page =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">\n"
    "<head><title>Error</title></head><body><p>The service is busy.</p></body></html>\n";

struct Reply {
  int status = 200;
  std::string_view content_type = "application/xml";
  std::string body{};
  bool half = false;  // of the body, then closed
};

Reply in_json(int status, std::string body) {
  return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

bool is_layout(std::string_view path) {
  const auto& layouts = documents::sample_layouts();
  return path.starts_with("extra/") ||
         std::ranges::find(layouts, path, &documents::SampleLayout::path) != layouts.end();
}

Reply reply_for(Fate fate, std::string_view path, size_t size) {
  switch (fate) {
    case Fate::failure: return {.status = 500, .content_type = "text/html", .body = std::string(error_page)};
    case Fate::html: return {.content_type = "text/html; charset=utf-8", .body = std::string(error_page)};
    case Fate::disguised: return {.body = std::string(disguised_page)};
    case Fate::truncation: return {.body = documents::make_layout(path, size), .half = true};
    case Fate::stall:
    case Fate::document: break;
  }
  return {.body = documents::make_layout(path, size)};
}

}  // namespace

// One client. Kept alive between requests unless an answer breaks off.
class OriginServer::Connection {
 public:
  Connection(OriginServer& server, tcp::socket socket) : server_(server), socket_(std::move(socket)) {}

  Task<> run() {
    bool keep = true;
    while (keep) {
      const bool complete = co_await read_request();
      if (!complete) co_return;
      keep = co_await answer();
    }
  }

 private:
  Task<bool> read_request();
  Task<bool> answer();
  Task<bool> answer_document(std::string path);
  Reply manage(std::string_view target);
  Task<bool> send(Reply reply);
  Task<bool> readable_within(Duration limit);
  Task<bool> still_there_after(Duration delay);

  OriginServer& server_;
  tcp::socket socket_;
  http::RequestParser parser_{{}};
  std::string buffer_;
  std::string body_;
};

Task<bool> OriginServer::Connection::read_request() {
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

Task<bool> OriginServer::Connection::answer() {
  const std::string_view target = parser_.head().target;
  if (target.starts_with("/stats") || target.starts_with("/settings")) {
    Reply reply = manage(target);
    co_return co_await send(std::move(reply));
  }
  std::string path(target.substr(1, target.find('?') - 1));
  co_return co_await answer_document(std::move(path));
}

Task<bool> OriginServer::Connection::answer_document(std::string path) {
  const OriginCounts::Open open(server_.counts_, path);
  const Fate fate = server_.settings_.draw_fate(server_.random_);
  const Duration delay = fate == Fate::stall ? Duration{stall_limit} : server_.settings_.draw_latency(server_.random_);
  const bool there = co_await still_there_after(delay);
  if (!there || fate == Fate::stall) co_return false;
  Reply reply{.status = 404, .content_type = "text/html", .body = std::string(error_page)};
  if (is_layout(path)) reply = reply_for(fate, path, server_.settings_.size);
  co_return co_await send(std::move(reply));
}

Reply OriginServer::Connection::manage(std::string_view target) {
  using http::Method;
  const auto is = [&](Method method, std::string_view path) {
    return parser_.head().method == method && target == path;
  };
  if (is(Method::get, "/stats")) return in_json(200, server_.counts_.to_json());
  if (is(Method::post, "/stats/reset")) {
    server_.counts_.reset();
    return in_json(200, server_.counts_.to_json());
  }
  if (is(Method::put, "/settings")) {
    const auto changed = server_.settings_.changed_by(body_);
    if (!changed) return {.status = 400, .content_type = "text/plain", .body = changed.error() + "\n"};
    server_.settings_ = *changed;
  }
  if (is(Method::get, "/settings") || is(Method::put, "/settings")) return in_json(200, server_.settings_.to_json());
  return {.status = 404, .content_type = "text/plain", .body = "GET /stats, POST /stats/reset, GET|PUT /settings\n"};
}

// False when the connection is not to be used further.
Task<bool> OriginServer::Connection::send(Reply reply) {
  const bool keep = parser_.head().keep_alive && !reply.half;
  const bool is_head = parser_.head().method == http::Method::head;
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}\r\n", reply.status,
                                  http::reason_phrase(reply.status), reply.content_type, reply.body.size(),
                                  keep ? "" : "Connection: close\r\n");
  if (!is_head) bytes.append(reply.body, 0, reply.half ? reply.body.size() / 2 : reply.body.size());
  Error error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const auto sent =
      co_await (asio::async_write(socket_, asio::buffer(bytes), token) || server_.clock_.sleep_for(write_limit));
  co_return sent.index() == 0 && !error && keep;
}

// False when the time is up first.
Task<bool> OriginServer::Connection::readable_within(Duration limit) {
  Error error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  const auto first = co_await (socket_.async_wait(tcp::socket::wait_read, token) || server_.clock_.sleep_for(limit));
  co_return first.index() == 0 && !error;
}

// False as soon as the other side has hung up.
Task<bool> OriginServer::Connection::still_there_after(Duration delay) {
  if (delay == Duration{0}) co_return true;
  const Instant until = server_.clock_.now() + delay;
  const bool readable = co_await readable_within(delay);
  if (!readable) co_return true;
  char next = 0;
  Error error;
  const size_t got = socket_.receive(asio::buffer(&next, 1), tcp::socket::message_peek, error);
  if (error || got == 0) co_return false;
  co_await server_.clock_.sleep_until(until);  // it sent its next request already: wait without looking
  co_return true;
}

OriginServer::OriginServer(asio::io_context& context, OriginSettings settings, Clock& clock, Random& random)
    : settings_(settings), clock_(clock), random_(random), acceptor_(context), scope_(context.get_executor()) {}

std::string OriginServer::start(const tcp::endpoint& at) {
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

Task<> OriginServer::close() {
  Error ignored;
  acceptor_.close(ignored);
  co_await scope_.close();
}

Task<> OriginServer::accept() {
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

Task<> OriginServer::serve(tcp::socket socket) {
  Connection connection(*this, std::move(socket));
  co_await connection.run();
}

}  // namespace sluice::lab
