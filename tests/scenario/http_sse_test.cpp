// Event streams, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/outlet.h"
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

TEST(Sse, a_topic_that_ends_closes_its_streams_behind_the_last_event) {
  TestServer server(quick_config(), 3);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(subscribe(server.port(), "/events/a"));
  const auto other = subscribe(server.port(), "/events/b");
  server.hub().publish("a", {.data = "one"});
  server.hub().end("a", {.type = "DONE", .data = "two"});
  server.hub().publish("a", {.data = "nobody is there"});
  for (const auto& client : clients) EXPECT_EQ(client->read_to_end(), "data: one\n\nevent: DONE\ndata: two\n\n");
  server.hub().publish("b", {.data = "goes on"});
  EXPECT_EQ(other->read_until("\n\n"), "data: goes on\n\n");
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

TEST(Sse, a_lone_stream_gets_no_more_heartbeats_than_are_due) {
  http::SseConfig sse;
  sse.heartbeat = 160ms;
  TestServer server(quick_config(), 1, sse);
  const auto began = std::chrono::steady_clock::now();
  const auto client = subscribe(server.port(), "/events/a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client->read_until("\n\n"), ":\n\n");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 3 * sse.heartbeat);
}

TEST(Sse, who_does_not_read_is_dropped_and_nobody_else) {
  TestServer server;
  const auto slow = subscribe(server.port(), "/events/a");
  const auto quick = subscribe(server.port(), "/events/a");
  const std::string data(100'000, 'x');
  // The sockets take some megabytes before the server has to keep any of it.
  for (int i = 0; i < 1000 && server.hub().connections() == 2; ++i) {
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
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (server.hub().connections() > 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

TEST(Sse, who_would_miss_an_event_is_sent_away_and_nobody_else) {
  http::SseConfig sse = quiet_sse();
  sse.max_pending = 2000;
  TestServer server(quick_config(), 1, sse);
  const auto kim = subscribe(server.port(), "/events/a?as=kim");
  const auto lee = subscribe(server.port(), "/events/a?as=lee");
  const auto all = subscribe(server.port(), "/events/b");
  // The only thread publishes, so nothing is sent meanwhile.
  server.on_thread([&server] {
    const std::string data(1000, 'x');
    server.hub().publish("c", {.data = data});
    server.hub().publish_to("a", "lee", {.data = "fits"});
    server.hub().publish_to("a", "kim", {.data = data});
    server.hub().publish("b", {.data = data});
    server.hub().publish_to("a", "kim", {.data = "later"});
    server.hub().publish_to("a", "lee", {.data = "later"});
  });
  EXPECT_EQ(kim->read_to_end(), "event: RECONNECT\ndata: {}\n\n");
  EXPECT_EQ(all->read_to_end(), "event: RECONNECT\ndata: {}\n\n");
  EXPECT_EQ(lee->read_until("\n\n"), "data: fits\n\n");
  EXPECT_EQ(lee->read_until("\n\n"), "data: later\n\n");
  EXPECT_EQ(server.hub().connections(), 1U);
  const auto back = subscribe(server.port(), "/events/a?as=kim", "Last-Event-ID: 41\r\n");
  server.hub().publish("a", {.data = "for both"});
  EXPECT_EQ(back->read_until("\n\n"), "data: for both\n\n");
  EXPECT_EQ(lee->read_until("\n\n"), "data: for both\n\n");
}

TEST(Sse, publishing_from_many_threads_while_clients_come_and_go_harms_nobody) {
  http::SseConfig sse = quiet_sse();
  sse.max_pending = 4000;
  TestServer server(quick_config(), 2, sse);
  std::atomic<bool> stop{false};
  std::vector<std::thread> publishers;
  for (int i = 0; i < 2; ++i) {
    publishers.emplace_back([&server, &stop] {
      while (!stop) server.hub().publish("a", {.type = "TICK", .data = "x"});
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto client = subscribe(server.port(), "/events/a?as=" + std::to_string(i % 3));
    client->read_until("\n\n");
  }
  stop = true;
  for (std::thread& publisher : publishers) publisher.join();
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

struct NotedOutlet : http::Outlet {
  bool send(const http::SharedBytes&) override { return true; }
  size_t unsent() const override { return 0; }
  void finish() override {}
  void close() override { closed = true; }

  bool closed = false;
};

TEST(Sse, who_was_answered_just_before_the_drain_is_closed_and_not_kept) {
  TestServer server;
  const http::Headers headers;
  http::Request request;
  request.headers = &headers;
  http::Response response;
  server.on_thread([&] { response = server.hub().subscribe(request, "a", "kim"); });
  server.hub().drain();
  const auto outlet = std::make_shared<NotedOutlet>();
  server.on_thread([&] { std::get<http::Takeover>(response.body)(outlet); });
  EXPECT_TRUE(outlet->closed);
  EXPECT_EQ(server.hub().connections(), 0U);
}

}  // namespace
}  // namespace sluice::test
