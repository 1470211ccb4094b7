// The HTTP server with clients that send nonsense, too much, or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class MalformedHead : public testing::TestWithParam<std::string> {};

TEST_P(MalformedHead, gets_400_and_the_connection_ends) {
  const TestServer server;
  RawClient client(server.port());
  client.try_send(GetParam());
  const std::string all = client.read_to_end();
  EXPECT_THAT(all, testing::StartsWith("HTTP/1.1 400 ")) << GetParam();
  EXPECT_THAT(all, HasSubstr("application/problem+json"));
  EXPECT_THAT(all, HasSubstr("Connection: close"));
}

INSTANTIATE_TEST_SUITE_P(
    HttpServer, MalformedHead,
    testing::Values(
        "nonsense\r\n\r\n", "GET\r\n\r\n", "GET /hello\r\n\r\n", "GET /hello HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX:\r\n two\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
        "GET /hello HTTP/1.1\nHost: a\n\n", "GET /hello HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -2\r\n\r\n{}",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x2\r\n\r\n{}",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        "\r\nxyz\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        "\r\nZZ\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        "\r\n2\r\n{}XX0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        "\r\nffffffffffffffffff\r\n"));

class PathTrick : public testing::TestWithParam<std::string> {};

TEST_P(PathTrick, gets_400) {
  const TestServer server;
  RawClient client(server.port());
  client.send("GET " + GetParam() + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 400) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(HttpServer, PathTrick,
                         testing::Values("//hello", "/a//b", "/./hello", "/../hello", "/%2e%2e/hello", "/%2E/hello",
                                         "/a%2fb", "/a%2Fb", "/a%00b", "/a%5cb", "/a\\b", "/a%zz", "/a%2", "/%ff",
                                         "/%c3%28", "/hello/", "/%0d%0aX:y", "/hello?q=%zz", "hello", "/hello#part"));

TEST(HttpLimits, oversized_heads_are_refused) {
  const TestServer server;
  RawClient url(server.port());
  url.try_send("GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(url.read_response().status, 414);
  RawClient endless(server.port());
  endless.try_send("GET /" + std::string(100'000, 'a'));
  EXPECT_EQ(endless.read_response().status, 414);
  RawClient head(server.port());
  head.try_send("GET /hello HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n");
  EXPECT_EQ(head.read_response().status, 431);
  RawClient count(server.port());
  std::string many = "GET /hello HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 101; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  count.try_send(many + "\r\n");
  EXPECT_EQ(count.read_response().status, 431);
}

TEST(HttpLimits, oversized_bodies_are_refused) {
  const TestServer server;
  constexpr std::string_view head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  RawClient known(server.port());
  known.try_send(std::string(head) + "Content-Length: 100001\r\n\r\n" + std::string(100'001, 'x'));
  EXPECT_EQ(known.read_response().status, 413);
  RawClient chunked(server.port());
  chunked.try_send(std::string(head) + "Transfer-Encoding: chunked\r\n\r\n" + "186a1\r\n" + std::string(100'001, 'x') +
                   "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.read_response().status, 413);
  RawClient extension(server.port());
  extension.try_send(std::string(head) + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(50'000, 'x'));
  EXPECT_EQ(extension.read_response().status, 400);
}

TEST(HttpLimits, unknown_transfer_codings_are_refused) {
  const TestServer server;
  RawClient client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 501);
}

TEST(HttpLimits, http_2_is_closed_without_a_word) {
  const TestServer server;
  RawClient client(server.port());
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(HttpLimits, a_head_that_trickles_in_times_out) {
  http::ServerConfig config = quick_config();
  config.head_timeout = 100ms;
  TestServer server(config);
  const auto client = server.connect_with("GET /hello HT");
  EXPECT_EQ(client->read_response().status, 408);
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpLimits, every_further_byte_does_not_buy_a_head_more_time) {
  http::ServerConfig config = quick_config();
  config.head_timeout = 100ms;
  config.max_head = config.max_target = 1 << 20;
  TestServer server(config);
  const auto client = server.connect_with("GET /");
  const std::jthread trickle([&client](const std::stop_token& answered) {
    while (!answered.stop_requested()) {
      client->try_send("a");
      timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
      ::nanosleep(&pause, nullptr);  // allowed: a slow client, not a wait
    }
  });
  EXPECT_EQ(client->read_response().status, 408);
}

TEST(HttpLimits, idle_connections_are_closed) {
  http::ServerConfig config = quick_config();
  config.idle_timeout = 100ms;
  const TestServer server(config);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/hello").status, 200);
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(HttpLimits, empty_lines_do_not_buy_an_idle_connection_more_time) {
  http::ServerConfig config = quick_config();
  config.idle_timeout = 100ms;
  const TestServer server(config);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/hello").status, 200);
  std::atomic<bool> closed = false;
  std::thread trickle([&client, &closed] {
    while (!closed) {
      client.try_send("\r\n");
      timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
      ::nanosleep(&pause, nullptr);  // allowed: a slow client, not a wait
    }
  });
  EXPECT_EQ(client.read_to_end(), "");
  closed = true;
  trickle.join();
}

TEST(HttpLimits, a_client_that_does_not_read_is_dropped) {
  http::ServerConfig config = quick_config();
  config.write_timeout = 100ms;
  const TestServer server(config);
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 10; ++i) requests += "GET /shared HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(requests);
  // The bytes in the sockets arrive; the rest never does. The server has closed the connection before we read.
  RawClient probe(server.port());
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (probe.get("/connections").body != "1") ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  EXPECT_LT(client.read_to_end().size(), 30'000'000U);
}

}  // namespace
}  // namespace sluice::test
