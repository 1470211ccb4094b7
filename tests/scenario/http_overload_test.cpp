// The HTTP server with too many connections or requests: which get a place, and which are closed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

constexpr std::string_view long_wait = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";

// Asks for something that takes long, and returns when it is being handled.
void occupy(const TestServer& server, RawClient& client) {
  client.send(long_wait);
  RawClient probe(server.port());
  while (probe.get("/hello").status == 200) {
  }
}

TEST(HttpOverload, a_silent_connection_goes_first_when_connections_run_out) {
  http::ServerConfig config = quick_config();
  config.max_connections = 2;
  const TestServer server(config);
  RawClient silent(server.port());
  RawClient second(server.port());
  EXPECT_EQ(second.get("/hello").status, 200);
  RawClient third(server.port());
  EXPECT_EQ(third.get("/hello").status, 200);
  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(second.get("/hello").status, 200);
}

TEST(HttpOverload, the_connection_that_is_idle_for_the_longest_time_goes_first) {
  http::ServerConfig config = quick_config();
  config.max_connections = 2;
  const TestServer server(config);
  RawClient first(server.port());
  EXPECT_EQ(first.get("/hello").status, 200);
  RawClient second(server.port());
  EXPECT_EQ(second.get("/hello").status, 200);
  EXPECT_EQ(first.get("/hello").status, 200);
  RawClient third(server.port());
  EXPECT_EQ(third.get("/hello").status, 200);
  EXPECT_EQ(second.read_to_end(), "");
  EXPECT_EQ(first.get("/hello").status, 200);
}

TEST(HttpOverload, a_connection_is_told_503_when_all_others_are_busy) {
  http::ServerConfig config = quick_config();
  config.max_connections = 2;
  TestServer server(config);
  RawClient first(server.port());
  RawClient second(server.port());
  first.send("GET /events/a HTTP/1.1\r\nHost: a\r\n\r\n");
  first.read_until("retry: ");
  second.send("GET /events/a HTTP/1.1\r\nHost: a\r\n\r\n");
  second.read_until("retry: ");
  RawClient third(server.port());
  const RawResponse refused = third.read_response();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(third.read_to_end(), "");
}

TEST(HttpOverload, connections_per_address_can_be_limited) {
  http::ServerConfig config = quick_config();
  config.max_connections_per_address = 1;
  const TestServer server(config);
  RawClient first(server.port());
  EXPECT_EQ(first.get("/hello").status, 200);
  RawClient second(server.port());
  EXPECT_EQ(second.read_response().status, 503);
}

TEST(HttpOverload, a_connection_that_waits_for_a_body_goes_when_no_other_is_idle) {
  http::ServerConfig config = quick_config();
  config.max_connections = 2;
  const TestServer server(config);
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
      "Expect: 100-continue\r\n\r\n";
  RawClient first(server.port());
  first.send(head);
  EXPECT_EQ(first.read_response().status, 100);
  RawClient second(server.port());
  second.send(head);
  EXPECT_EQ(second.read_response().status, 100);
  {
    RawClient third(server.port());
    EXPECT_EQ(third.get("/alive").status, 200);
    EXPECT_EQ(first.read_to_end(), "");
    // A connection without a request goes before one whose body comes.
    RawClient fourth(server.port());
    EXPECT_EQ(fourth.get("/alive").status, 200);
    EXPECT_EQ(third.read_to_end(), "");
  }
  second.send("123456789");
  EXPECT_EQ(second.read_response().body, "123456789");
}

TEST(HttpOverload, a_refused_connection_that_lingers_goes_when_connections_run_out) {
  http::ServerConfig config = quick_config();
  config.max_connections = 1;
  config.lingering_time = 20s;
  const TestServer server(config);
  RawClient refused(server.port());
  refused.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n");
  EXPECT_EQ(refused.read_response().status, 413);
  EXPECT_EQ(refused.read_to_end(), "");
  RawClient client(server.port());
  EXPECT_EQ(client.get("/alive").status, 200);
}

// The answer to a connection through the proxy for `client`.
struct Proxied {
  Proxied(const TestServer& server, const std::string& client) : connection(server.port()) {
    const std::string family = client.contains(':') ? "TCP6 " : "TCP4 ";
    const std::string destination = client.contains(':') ? " 2001:db8:ffff::1" : " 192.0.2.1";
    connection.send("PROXY " + family + client + destination + " 4711 80\r\n");
    status = connection.get("/hello").status;
  }

  RawClient connection;
  int status = 0;
};

TEST(HttpOverload, behind_the_proxy_protocol_each_client_has_its_own_connections) {
  http::ServerConfig config = quick_config();
  config.max_connections_per_address = 1;
  config.proxy_protocol_from = {"127.0.0.1"};
  const TestServer server(config);
  const Proxied first(server, "203.0.113.1");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(Proxied(server, "203.0.113.1").status, 503);
  EXPECT_EQ(Proxied(server, "203.0.113.2").status, 200);
}

TEST(HttpOverload, addresses_of_one_ipv6_network_are_one_client) {
  http::ServerConfig config = quick_config();
  config.max_connections_per_address = 1;
  config.proxy_protocol_from = {"127.0.0.1"};
  const TestServer server(config);
  const Proxied first(server, "2001:db8:1:1::1");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(Proxied(server, "2001:db8:1:1:ffff::2").status, 503);
  EXPECT_EQ(Proxied(server, "2001:db8:1:2::1").status, 200);
}

TEST(HttpOverload, a_connection_that_has_sent_nothing_has_the_time_of_a_head) {
  http::ServerConfig config = quick_config();
  config.head_timeout = 100ms;
  const TestServer server(config);
  RawClient client(server.port());
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(HttpOverload, requests_above_the_limit_get_503_at_once) {
  http::ServerConfig config = quick_config();
  config.max_in_flight = 1;
  TestServer server(config);
  RawClient busy(server.port());
  occupy(server, busy);
  RawClient client(server.port());
  const RawResponse refused = client.get("/hello");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  server.server().drain(0s);
}

TEST(HttpOverload, health_is_answered_however_many_requests_are_in_flight) {
  http::ServerConfig config = quick_config();
  config.max_in_flight = 1;
  TestServer server(config);
  RawClient busy(server.port());
  occupy(server, busy);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/alive").status, 200);
  EXPECT_EQ(client.get("/hello").status, 503);
  server.server().drain(0s);
}

TEST(HttpOverload, a_body_that_does_not_come_keeps_nobody_from_being_served) {
  http::ServerConfig config = quick_config();
  config.max_in_flight = 1;
  const TestServer server(config);
  RawClient silent(server.port());
  silent.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(silent.read_response().status, 100);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/hello").status, 200);
  silent.send("{}");
  EXPECT_EQ(silent.read_response().status, 200);
}

TEST(HttpOverload, a_streamed_body_that_does_not_come_keeps_nobody_from_being_served) {
  http::ServerConfig config = quick_config();
  config.max_in_flight = 1;
  const TestServer server(config);
  RawClient silent(server.port());
  silent.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(silent.read_response().status, 100);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/hello").status, 200);
  silent.send("{}");
  EXPECT_EQ(silent.read_response().body, "2");
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(HttpOverload, a_handler_has_its_place_while_it_deals_with_what_came_of_a_streamed_body) {
  http::ServerConfig config = quick_config();
  config.max_in_flight = 1;
  TestServer server(config);
  RawClient busy(server.port());
  busy.send("POST /count_and_wait HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(busy.read_response().status, 100);
  busy.send("{}");
  RawClient client(server.port());
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (client.get("/hello").status != 503) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  server.server().drain(0s);
}

}  // namespace
}  // namespace sluice::test
