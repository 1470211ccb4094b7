// A time limit that passes at the very moment when bytes arrive.
//
// Cancelling a read that has its bytes already does nothing. The server's thread is held here until the limit is over
// and more bytes are there than one read takes: the first read is then answered, the second has its bytes, and only
// then the timers get their turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "http/server/server_metrics.h"
#include "tests/scenario/test_server.h"
#include "tests/support/certificates.h"

namespace sluice::test {
namespace {

constexpr Duration limit = 50ms;

void stand_still(Duration time) {
  timespec left{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(time).count()};
  ::nanosleep(&left, nullptr);  // allowed: a thread that is busy, not a wait
}

void send_while_limit_passes(TestServer& server, RawClient& client, std::string_view bytes) {
  server.on_thread([&client, bytes] {
    client.try_send(bytes);  // the limit may have passed before, and the server have closed
    stand_still(2 * limit);
  });
}

// Until the server has begun to serve the connection, or the limit has passed already and it has closed it.
void wait_for_connection(TestServer& server, const RawClient& client) {
  char byte = 0;
  const auto is_open = [&] { return ::recv(client.descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0; };
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (http::connections_gauge().value() < 1 && is_open()) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  server.on_thread([] {});
}

TEST(HttpTimeLimits, a_head_is_late_even_if_its_next_bytes_came_at_that_moment) {
  http::ServerConfig config = quick_config();
  config.head_timeout = limit;
  TestServer server(config);
  const auto client = server.connect_with("GET /hello HTTP/1.1\r\nHost: a\r\n\r\nG");
  EXPECT_EQ(client->read_response().status, 200);
  send_while_limit_passes(server, *client, "ET /hello HTTP/1.1\r\nHost: a\r\nX: " + std::string(5'000, 'x'));
  EXPECT_EQ(client->read_response().status, 408);
}

TEST(HttpTimeLimits, a_handshake_is_late_even_if_its_next_bytes_came_at_that_moment) {
  const Certificates certificates;
  http::ServerConfig config = quick_config();
  config.tls_certificate = certificates.file("here.pem");
  config.tls_key = certificates.file("here.key");
  config.head_timeout = limit;
  TestServer server(config);
  RawClient client(server.port());
  wait_for_connection(server, client);
  // Three records of 16 KiB with the beginning of a ClientHello of 100,000 bytes.
  std::string hello;
  for (int i = 0; i < 3; ++i) {
    hello += std::string("\x16\x03\x01\x40\x00", 5);
    hello += i == 0 ? std::string("\x01\x01\x86\xa0", 4) + std::string(16'380, '\0') : std::string(16'384, '\0');
  }
  send_while_limit_passes(server, client, hello);
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(HttpTimeLimits, a_body_is_not_late_because_the_server_stood_still) {
  http::ServerConfig config = quick_config();
  config.body_timeout = config.body_idle_timeout = 1s;
  ManualClock clock;
  TestServer server(config, 1, quiet_sse(), &clock);
  RawClient client(server.port());
  const std::string body(50'000, '1');
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 100);
  server.on_thread([&client, &body, &clock] {
    client.send(body);
    clock.jump(1500ms);
    stand_still(10ms);  // so that the ticks are due as soon as the body is
  });
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(HttpTimeLimits, a_client_that_goes_on_sending_after_its_refusal_is_left_in_time) {
  http::ServerConfig config = quick_config();
  config.lingering_time = limit;
  TestServer server(config);
  RawClient client(server.port());
  client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 413);
  send_while_limit_passes(server, client, std::string(10'000, 'x'));
  RawClient probe(server.port());
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (probe.get("/connections").body != "1") ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

}  // namespace
}  // namespace sluice::test
