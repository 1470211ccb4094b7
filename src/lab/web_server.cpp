#include "lab/web_server.h"

#include <fmt/format.h>

#include "lab/web_pages.h"

namespace sluice::lab {
namespace {

constexpr Duration stall_limit = 1h;
constexpr size_t endless_limit = size_t{1} << 30;  // a careful client stops long before

std::string host_of(const http::RequestHead& head) {
  const std::string_view authority = head.headers.get("Host");
  return std::string(authority.substr(0, authority.rfind(':')));
}

}  // namespace

WebServer::WebServer(asio::io_context& context, Duration latency, Clock& clock)
    : latency_(latency), server_(context, clock, [this](BareConnection& connection) { return answer(connection); }) {}

Task<bool> WebServer::answer(BareConnection& connection) {
  const http::RequestHead& head = connection.head();
  if (head.target.starts_with("/lab/stats")) {
    if (head.target == "/lab/stats/reset" && head.method == http::Method::post) counts_.reset();
    Reply reply{.content_type = "application/json", .body = counts_.to_json()};
    co_return co_await connection.send(std::move(reply));
  }
  co_return co_await answer_page(connection, host_of(head), head.target);
}

Task<bool> WebServer::answer_page(BareConnection& connection, std::string host, std::string target) {
  const OriginCounts::Open open(counts_, target == "/robots.txt" ? host + target : host);
  WebPage page = page_at(host, target);
  const bool stalls = page.manner == WebPage::Manner::stall;
  const bool there = co_await connection.still_there_after(stalls ? Duration{stall_limit} : latency_);
  if (!there || stalls) co_return false;
  if (page.manner == WebPage::Manner::endless) co_return co_await send_endless(connection, std::move(page.reply));
  co_return co_await connection.send(std::move(page.reply));
}

Task<bool> WebServer::send_endless(BareConnection& connection, Reply reply) {
  std::string beginning =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nConnection: close\r\n\r\n{}", reply.content_type, reply.body);
  bool taken = co_await connection.write(std::move(beginning));
  for (size_t sent = 0; taken && sent < endless_limit; sent += size_t{64} << 10) {
    std::string more(size_t{64} << 10, 'x');
    taken = co_await connection.write(std::move(more));
  }
  co_return false;
}

}  // namespace sluice::lab
