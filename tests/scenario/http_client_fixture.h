// Drives an http::Client from a plain test, and the answers its servers give.
#pragma once

#include <gtest/gtest.h>

#include "http/client/client.h"
#include "runtime/system_clock.h"
#include "tests/support/scripted_server.h"

namespace sluice::http {

using test::ScriptedServer;
using Then = ScriptedServer::Then;
using Reply = ScriptedServer::Reply;
using Call = ScriptedServer::Call;
using Kind = ClientError::Kind;

inline Reply ok(const std::string& body, const std::string& headers = "", Then then = Then::keep) {
  return {.bytes = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n{}", body.size(), headers, body),
          .then = then};
}

inline Reply redirect(int status, const std::string& location) {
  return {.bytes = fmt::format("HTTP/1.1 {} Moved\r\nLocation: {}\r\nContent-Length: 4\r\n\r\nmove", status, location)};
}

inline bool asks_for(const Call& call, std::string_view path) {
  return call.request.contains(fmt::format(" {} HTTP/1.1\r\n", path));
}

struct HttpClient : testing::Test {
  HttpClient() { make_client({.reach = Reach::public_and_loopback}); }
  ~HttpClient() override { wait_for(client->close()); }

  void make_client(ClientOptions options) {
    if (client) wait_for(client->close());
    client = std::make_unique<Client>(context.get_executor(), clock, std::move(options));
  }

  template <class Value>
  Value wait_for(Task<Value> task) {
    std::conditional_t<std::is_void_v<Value>, bool, std::optional<Value>> result{};
    bool done = false;
    const auto finish = [&done](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
      done = true;
    };
    if constexpr (std::is_void_v<Value>) {
      asio::co_spawn(context, std::move(task), finish);
    } else {
      asio::co_spawn(context, detail::run_into(std::move(task), result), finish);
    }
    context.restart();
    while (!done) context.run_one();
    if constexpr (!std::is_void_v<Value>) return std::move(*result);
  }

  // With a timeout that passes in no test: any thread may pause for seconds.
  ClientRequest get(const std::string& url) { return {.url = *Url::parse(url), .timeout = 1min}; }
  Result<ClientAnswer, ClientError> send(ClientRequest request) { return wait_for(client->send(std::move(request))); }
  // "200 body", or the kind of the failure.
  std::string outcome(ClientRequest request) {
    const Result<ClientAnswer, ClientError> answer = send(std::move(request));
    return answer ? fmt::format("{} {}", answer->status, answer->body) : std::string(name(answer.error().kind));
  }

  asio::io_context context;
  SystemClock clock;
  std::unique_ptr<Client> client;
};

}  // namespace sluice::http
