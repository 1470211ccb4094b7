// Request bodies: whose are read at all, how much memory they take together, and how long one may wait for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string head(std::string_view target, size_t length, std::string_view more = "") {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
         std::string(more) + "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

// A client that has been told to send its body.
struct Expected {
  Expected(const TestServer& server, std::string_view target, size_t length, const std::string& more = "")
      : client(server.port()) {
    client.send(head(target, length, more + "Expect: 100-continue\r\n"));
    first_status = client.read_response().status;
  }

  RawClient client;
  int first_status = 0;
};

TEST(HttpBodies, a_caller_who_is_refused_on_the_head_is_not_asked_for_a_body) {
  const TestServer server;
  EXPECT_EQ(Expected(server, "/guarded", 90'000).first_status, 401);
  RawClient silent(server.port());
  silent.send(head("/guarded", 90'000));
  EXPECT_EQ(silent.read_response().status, 401);
}

TEST(HttpBodies, a_caller_who_is_let_in_on_the_head_sends_its_body) {
  const TestServer server;
  Expected asked(server, "/guarded", 90'000, "Token: good\r\n");
  EXPECT_EQ(asked.first_status, 100);
  asked.client.send(std::string(90'000, '1'));
  EXPECT_EQ(asked.client.read_response().body, std::string(90'000, '1'));

  asked.client.send(head("/guarded", 2, "Token: good\r\n") + "{}");
  EXPECT_EQ(asked.client.read_response().body, "{}");
  asked.client.send(
      "POST /guarded HTTP/1.1\r\nHost: a\r\nToken: good\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_EQ(asked.client.read_response().status, 400);
}

// Waits until bodies that have arrived leave less than `length` of the common memory.
RawResponse wait_for_refusal(const TestServer& server, size_t length) {
  const auto give_up = std::chrono::steady_clock::now() + 40s;
  while (true) {
    RawClient client(server.port());
    client.send(head("/echo", length, "Expect: 100-continue\r\n"));
    RawResponse response = client.read_response();
    if (response.status != 100 || std::chrono::steady_clock::now() > give_up) return response;
  }
}

TEST(HttpBodies, bodies_above_their_common_memory_are_refused_before_they_are_read) {
  http::ServerConfig config = quick_config();
  config.body_memory = 100'000;
  const TestServer server(config);
  Expected first(server, "/echo", 90'000);
  EXPECT_EQ(first.first_status, 100);
  first.client.send(std::string(89'999, '1'));

  const RawResponse refused = wait_for_refusal(server, 20'000);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_THAT(refused.body, HasSubstr(R"("code":"overloaded")"));
  RawClient small(server.port());
  small.send(head("/echo", 2) + "{}");
  EXPECT_EQ(small.read_response().status, 200);

  first.client.send("1");
  EXPECT_EQ(first.client.read_response().status, 200);
  EXPECT_EQ(Expected(server, "/echo", 90'000).first_status, 100);
}

TEST(HttpBodies, bodies_that_are_only_announced_take_no_memory_from_others) {
  http::ServerConfig config = quick_config();
  config.body_memory = 150'000;
  const TestServer server(config);
  std::vector<std::unique_ptr<Expected>> silent;
  for (int i = 0; i < 5; ++i) {
    silent.push_back(std::make_unique<Expected>(server, "/echo", 70'000));
    EXPECT_EQ(silent.back()->first_status, 100) << i;
    silent.back()->client.send("1");
  }
  Expected honest(server, "/echo", 70'000);
  EXPECT_EQ(honest.first_status, 100);
  honest.client.send(std::string(70'000, '1'));
  EXPECT_EQ(honest.client.read_response().body, std::string(70'000, '1'));
}

TEST(HttpBodies, a_chunked_body_takes_its_part_of_the_common_memory_as_it_grows) {
  http::ServerConfig config = quick_config();
  config.body_memory = 150'000;
  const TestServer server(config);
  Expected first(server, "/echo", 60'000);
  EXPECT_EQ(first.first_status, 100);
  first.client.send(std::string(59'999, '1'));
  EXPECT_EQ(wait_for_refusal(server, 100'000).status, 503);
  RawClient chunked(server.port());
  chunked.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.try_send("11170\r\n" + std::string(70'000, '1') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.read_response().status, 503);
  first.client.send("1");
  EXPECT_EQ(first.client.read_response().status, 200);
  RawClient again(server.port());
  again.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      "11170\r\n" +
      std::string(70'000, '1') + "\r\n0\r\n\r\n");
  EXPECT_EQ(again.read_response().status, 200);
}

TEST(HttpBodies, a_body_that_can_never_fit_is_too_large) {
  http::ServerConfig config = quick_config();
  config.body_memory = 50'000;
  const TestServer server(config);
  EXPECT_EQ(Expected(server, "/echo", 60'000).first_status, 413);
}

TEST(HttpBodies, a_body_that_does_not_come_times_out) {
  http::ServerConfig config = quick_config();
  config.body_timeout = 100ms;
  const TestServer server(config);
  RawClient client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_EQ(client.read_response().status, 408);
  RawClient streamed(server.port());
  streamed.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_EQ(streamed.read_response().status, 408);
}

TEST(HttpBodies, a_body_that_stops_is_cut_off_however_much_came_before) {
  http::ServerConfig config = quick_config();
  config.body_idle_timeout = 100ms;
  const TestServer server(config);
  RawClient whole(server.port());
  whole.send(head("/echo", 100'000) + std::string(99'999, '1'));
  EXPECT_EQ(whole.read_response().status, 408);
  RawClient streamed(server.port());
  streamed.send(head("/count", 1'000'000) + std::string(900'000, '1'));
  EXPECT_EQ(streamed.read_response().status, 408);
}

TEST(HttpBodies, the_time_that_a_handler_takes_is_not_the_clients) {
  http::ServerConfig config = quick_config();
  config.body_timeout = 500ms;
  ManualClock clock;
  TestServer server(config, 1, quiet_sse(), &clock);
  RawClient client(server.port());
  client.send(head("/count_slowly", 2) + "1");
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (server.pauses() == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    server.advance(clock, config.tick);
  }
  // A limit that had passed would be noticed in these ticks.
  for (int i = 0; i < 20; ++i) server.advance(clock, config.tick);
  client.send("2");
  EXPECT_EQ(client.read_response().body, "2");
}

}  // namespace
}  // namespace sluice::test
