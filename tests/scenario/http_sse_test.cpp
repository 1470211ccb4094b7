// Event streams, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/metrics.h"
#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

// Subscribes and returns once the server has it.
std::unique_ptr<RawClient> subscribe(uint16_t port, const std::string& target, const std::string& headers = "") {
  auto client = std::make_unique<RawClient>(port);
  client->send("GET " + target + " HTTP/1.1\r\nHost: test\r\n" + headers + "\r\n");
  const std::string head = client->read_until("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_EQ(client->read_until("\n\n"), "retry: 2000\n\n");
  return client;
}

TEST(Sse, an_event_reaches_every_subscriber_of_its_topic_on_every_thread) {
  TestServer server(quick_config(), 3);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(subscribe(server.port(), "/events/a"));
  const auto other = subscribe(server.port(), "/events/b");
  EXPECT_EQ(server.hub().connections(), 13U);
  server.hub().publish("a", {.id = "7", .type = "NEWS", .data = "one\ntwo"});
  server.hub().publish("b", {.data = "for b"});
  for (const auto& client : clients) {
    EXPECT_EQ(client->read_until("\n\n"), "id: 7\nevent: NEWS\ndata: one\ndata: two\n\n");
  }
  EXPECT_EQ(other->read_until("\n\n"), "data: for b\n\n");
}

TEST(Sse, a_later_subscription_replaces_the_former_one) {
  TestServer server(quick_config(), 3);
  auto former = subscribe(server.port(), "/events/a?as=kim");
  const auto neighbour = subscribe(server.port(), "/events/a?as=lee");
  for (int i = 0; i < 10; ++i) {
    auto later = subscribe(server.port(), "/events/a?as=kim");
    EXPECT_THAT(former->read_to_end(), HasSubstr("event: REPLACED\n"));
    former = std::move(later);
  }
  server.hub().publish_to("a", "kim", {.data = "only kim"});
  server.hub().publish("a", {.data = "all"});
  EXPECT_EQ(former->read_until("\n\n"), "data: only kim\n\n");
  EXPECT_EQ(neighbour->read_until("\n\n"), "data: all\n\n");
}

TEST(Sse, idle_streams_get_a_heartbeat) {
  http::SseConfig sse;
  sse.heartbeat = 80ms;
  TestServer server(quick_config(), 1, sse);
  const auto first = subscribe(server.port(), "/events/a");
  const auto second = subscribe(server.port(), "/events/a");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first->read_until("\n\n"), ":\n\n");
    EXPECT_EQ(second->read_until("\n\n"), ":\n\n");
  }
}

TEST(Sse, who_does_not_read_is_dropped_and_nobody_else) {
  TestServer server;
  const auto slow = subscribe(server.port(), "/events/a");
  const auto quick = subscribe(server.port(), "/events/a");
  const std::string data(100'000, 'x');
  while (server.hub().connections() == 2) {
    server.hub().publish("a", {.data = data});
    EXPECT_EQ(quick->read_until("\n\n"), "data: " + data + "\n\n");
  }
  EXPECT_EQ(server.hub().connections(), 1U);
}

TEST(Sse, a_client_that_leaves_is_forgotten) {
  TestServer server;
  auto client = subscribe(server.port(), "/events/a");
  EXPECT_EQ(server.hub().connections(), 1U);
  client.reset();
  while (server.hub().connections() > 0) std::this_thread::yield();
}

TEST(Sse, the_owner_learns_what_the_client_saw_last) {
  TestServer server;
  const auto client = subscribe(server.port(), "/events/resumed?as=kim", "Last-Event-ID: 41\r\n");
  EXPECT_EQ(client->read_until("\n\n"), "event: MISSED\ndata: after 41 for kim\n\n");
}

TEST(Sse, draining_sends_clients_away_with_a_word) {
  TestServer server(quick_config(), 2);
  const auto client = subscribe(server.port(), "/events/a");
  server.hub().drain();
  EXPECT_EQ(client->read_to_end(), "event: RECONNECT\ndata: {}\n\n");
  RawClient late(server.port());
  EXPECT_EQ(late.get("/events/a").status, 503);
}

}  // namespace
}  // namespace sluice::test
