// The HTTP server as its clients see it, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/gunzip.h"
#include "tests/scenario/test_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr std::string_view json = "Content-Type: application/json\r\n";

std::string post(std::string_view target, std::string_view headers, std::string_view body) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string unpack(std::string_view compressed) {
  http::Gunzip gunzip;
  std::string out;
  EXPECT_EQ(gunzip.write(compressed, out, 1 << 20), http::Gunzip::State::end);
  return out;
}

TEST(HttpServer, a_connection_serves_one_request_after_the_other) {
  const TestServer server;
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.get("/hello");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "hello");
    EXPECT_THAT(response.header("Date"), HasSubstr(" GMT"));
    EXPECT_EQ(response.header("Connection"), "");
  }
}

TEST(HttpServer, pipelined_requests_are_answered_in_order) {
  const TestServer server;
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += "GET /items/" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  client.send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.read_response().body, std::to_string(i) + " -");
}

TEST(HttpServer, a_request_may_arrive_byte_by_byte) {
  const TestServer server;
  RawClient client(server.port());
  for (const char c : post("/echo", json, "{}")) client.send({&c, 1});
  EXPECT_EQ(client.read_response().body, "{}");
}

TEST(HttpServer, every_thread_serves) {
  const TestServer server(quick_config(), 4);
  for (int i = 0; i < 40; ++i) {
    RawClient client(server.port());
    EXPECT_EQ(client.get("/hello").body, "hello");
  }
}

TEST(HttpServer, a_client_that_expects_100_is_told_to_go_on) {
  const TestServer server;
  RawClient client(server.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 100);
  client.send("{}");
  EXPECT_EQ(client.read_response().body, "{}");
}

TEST(HttpServer, a_client_that_expects_100_is_refused_before_it_sends_too_much) {
  const TestServer server;
  RawClient client(server.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 413);
}

TEST(HttpServer, chunked_bodies_are_put_together) {
  const TestServer server;
  RawClient client(server.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\n{\"\r\n5;ext=\"x\"\r\na\":12\r\n1\r\n}\r\n0\r\nX-Trailer: ignored\r\n\r\n");
  EXPECT_EQ(client.read_response().body, R"({"a":12})");
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(HttpServer, a_route_can_read_its_body_in_pieces) {
  const TestServer server;
  RawClient client(server.port());
  client.send(post("/count", "", std::string(700'000, 'x')));
  EXPECT_EQ(client.read_response().body, "700000");
  EXPECT_EQ(client.get("/hello").status, 200);
  client.try_send("POST /count HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" +
                  ("f4241\r\n" + std::string(1'000'001, 'x')));
  EXPECT_EQ(client.read_response().status, 413);
}

TEST(HttpServer, answers_can_be_streamed) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse response = client.get("/pieces");
  EXPECT_EQ(response.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(response.body, "piece 1\npiece 2\npiece 3\n");
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(HttpServer, a_streamed_answer_that_fails_without_a_message_has_no_end) {
  const TestServer server;
  RawClient client(server.port());
  client.send("GET /broken_pieces HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), testing::EndsWith("\r\n\r\n8\r\npiece 1\n\r\n"));
}

TEST(HttpServer, old_clients_get_what_they_understand) {
  const TestServer server;
  RawClient closing(server.port());
  closing.send("GET /pieces HTTP/1.0\r\n\r\n");
  const std::string all = closing.read_to_end();
  EXPECT_THAT(all, HasSubstr("Connection: close"));
  EXPECT_THAT(all, testing::EndsWith("\r\n\r\npiece 1\npiece 2\npiece 3\n"));

  RawClient keeping(server.port());
  for (int i = 0; i < 2; ++i) {
    keeping.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(keeping.read_response().header("Connection"), "keep-alive");
  }
}

TEST(HttpServer, a_large_shared_body_arrives_whole) {
  const TestServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.get("/shared").body, std::string(3'000'000, 'x'));
}

TEST(HttpServer, head_is_get_without_the_body) {
  const TestServer server;
  RawClient client(server.port());
  client.send("HEAD /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  const RawResponse response = client.read_response(false);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.header("Content-Length"), "5");
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST(HttpServer, a_body_that_its_handler_compressed_is_sent_only_to_those_who_take_that) {
  const TestServer server;
  RawClient client(server.port());
  EXPECT_EQ(client.get("/precompressed", "Accept-Encoding: gzip;q=0\r\n").body, std::string(5000, 'x'));
  EXPECT_EQ(client.get("/precompressed", "Accept-Encoding: gzip\r\nIf-None-Match: \"tag\"\r\n").status, 304);
  const RawResponse packed = client.get("/precompressed", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_EQ(unpack(packed.body), "compressed before");
}

TEST(HttpServer, large_text_is_compressed_for_who_takes_it) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse plain = client.get("/large");
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  EXPECT_EQ(plain.header("Vary"), "Accept-Encoding");
  const RawResponse packed = client.get("/large", "Accept-Encoding: br, gzip;q=0.8\r\n");
  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_LT(packed.body.size(), plain.body.size() / 10);
  EXPECT_EQ(unpack(packed.body), plain.body);
  EXPECT_EQ(client.get("/large", "Accept-Encoding: gzip;q=0\r\n").body, plain.body);
  EXPECT_EQ(client.get("/hello", "Accept-Encoding: gzip\r\n").body, "hello");
  EXPECT_EQ(unpack(client.get("/pieces", "Accept-Encoding: gzip\r\n").body), "piece 1\npiece 2\npiece 3\n");
}

TEST(HttpServer, what_the_client_has_is_not_sent_again) {
  const TestServer server;
  RawClient client(server.port());
  const std::string etag = client.get("/tagged").header("ETag");
  EXPECT_THAT(etag, MatchesRegex("\"[A-Za-z0-9_-]{22}\""));
  const RawResponse same = client.get("/tagged", "If-None-Match: \"other\", W/" + etag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.header("ETag"), etag);
  EXPECT_EQ(same.header("Vary"), "Accept-Encoding");
  EXPECT_EQ(client.get("/tagged", "If-None-Match: \"other\"\r\n").status, 200);
}

TEST(HttpServer, a_broken_escape_in_a_query_is_not_called_a_path) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse refused = client.get("/hello?kind=k%");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr(R"("code":"malformed-query")"));
}

TEST(HttpServer, unknown_paths_and_methods_are_problems) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse missing = client.get("/nowhere", "X-Request-Id: my-id.1\r\n");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(missing.header("X-Request-Id"), "my-id.1");
  EXPECT_THAT(missing.body, HasSubstr(R"("status":404,"code":"not-found")"));
  EXPECT_THAT(missing.body, HasSubstr(R"("requestId":"my-id.1")"));
  EXPECT_EQ(client.get("/items/seven").status, 404);

  client.send("DELETE /items/7 HTTP/1.1\r\nHost: test\r\n\r\n");
  const RawResponse refused = client.read_response();
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.header("Allow"), "GET, PUT, HEAD, OPTIONS");
}

TEST(HttpServer, a_known_path_refuses_methods_that_no_route_can_have) {
  const TestServer server;
  RawClient client(server.port());
  for (const std::string method : {"TRACE", "CONNECT", "BREW"}) {
    client.send(method + " /items/7 HTTP/1.1\r\nHost: test\r\n\r\n");
    const RawResponse refused = client.read_response();
    EXPECT_EQ(refused.status, 405) << method;
    EXPECT_EQ(refused.header("Allow"), "GET, PUT, HEAD, OPTIONS") << method;
    client.send(method + " /nowhere HTTP/1.1\r\nHost: test\r\n\r\n");
    EXPECT_EQ(client.read_response().status, 404) << method;
  }
}

TEST(HttpServer, options_tells_what_a_path_can_do) {
  const TestServer server;
  RawClient client(server.port());
  client.send("OPTIONS /items/7 HTTP/1.1\r\nHost: test\r\nOrigin: https://a.example\r\n\r\n");
  const RawResponse response = client.read_response();
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("Allow"), "GET, PUT, HEAD, OPTIONS");
  EXPECT_EQ(response.header("Access-Control-Allow-Origin"), "");
}

TEST(HttpServer, only_configured_origins_may_call_from_a_browser) {
  http::ServerConfig config = quick_config();
  config.cors_origins = {"https://a.example"};
  const TestServer server(config);
  RawClient client(server.port());
  client.send(
      "OPTIONS /items/7 HTTP/1.1\r\nHost: test\r\nOrigin: https://a.example\r\n"
      "Access-Control-Request-Method: PUT\r\n\r\n");
  const RawResponse preflight = client.read_response();
  EXPECT_EQ(preflight.header("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_THAT(preflight.header("Access-Control-Allow-Methods"), HasSubstr("PUT"));
  EXPECT_EQ(client.get("/hello", "Origin: https://a.example\r\n").header("Access-Control-Allow-Origin"),
            "https://a.example");
  EXPECT_EQ(client.get("/hello", "Origin: https://b.example\r\n").header("Access-Control-Allow-Origin"), "");
}

TEST(HttpServer, a_page_of_another_origin_may_read_the_headers_that_matter_to_it) {
  http::ServerConfig config = quick_config();
  config.cors_origins = {"*"};
  const TestServer server(config);
  EXPECT_EQ(
      RawClient(server.port()).get("/hello", "Origin: https://a.example\r\n").header("Access-Control-Expose-Headers"),
      "Age, ETag, Location, Retry-After, Sluice-Degraded, Sluice-Source, X-Request-Id");
}

TEST(HttpServer, every_answer_says_that_its_type_is_not_to_be_guessed) {
  const TestServer server;
  for (const char* const target : {"/hello", "/fail", "/nowhere", "//"}) {
    const RawResponse response = RawClient(server.port()).get(target);
    EXPECT_EQ(response.header("X-Content-Type-Options"), "nosniff") << target;
    EXPECT_EQ(response.head.find("nosniff"), response.head.rfind("nosniff")) << "said once";
  }
}

TEST(HttpServer, a_body_of_the_wrong_type_is_refused) {
  const TestServer server;
  RawClient client(server.port());
  client.send(post("/echo", "Content-Type: text/plain\r\n", "{}"));
  const RawResponse refused = client.read_response();
  EXPECT_EQ(refused.status, 415);
  EXPECT_THAT(refused.body, HasSubstr("application/json"));
  RawClient second(server.port());
  second.send(post("/echo", "Content-Type: Application/JSON; charset=utf-8\r\n", "{}"));
  EXPECT_EQ(second.read_response().status, 200);
}

TEST(HttpServer, an_encoded_body_is_refused) {
  const TestServer server;
  const auto post = [&server](const std::string& coding) {
    RawClient client(server.port());
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: " + coding +
                "\r\nContent-Length: 2\r\n\r\n{}");
    return client.read_response();
  };
  const RawResponse refused = post("gzip");
  EXPECT_EQ(refused.status, 415);
  EXPECT_THAT(refused.body, HasSubstr("Content-Encoding"));
  EXPECT_EQ(post("identity").status, 200);
}

TEST(HttpServer, failures_of_ours_say_nothing_about_the_inside) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse failed = client.get("/fail");
  EXPECT_EQ(failed.status, 500);
  EXPECT_THAT(failed.body, Not(HasSubstr("secret")));
  const RawResponse down = client.get("/down");
  EXPECT_EQ(down.status, 503);
  EXPECT_EQ(down.header("Retry-After"), "3");
  EXPECT_THAT(down.body, Not(HasSubstr("secret")));
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(HttpServer, a_late_handler_is_cancelled_and_the_connection_lives_on) {
  const TestServer server;
  RawClient client(server.port());
  const RawResponse late = client.get("/late");
  EXPECT_EQ(late.status, 503);
  EXPECT_THAT(late.body, HasSubstr("deadline-exceeded"));
  EXPECT_EQ(client.get("/hello").body, "hello");
  EXPECT_EQ(client.get("/late").status, 503);
}

TEST(HttpServer, requests_have_names) {
  const TestServer server;
  RawClient client(server.port());
  constexpr std::string_view trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(client.get("/whoami", "X-Request-Id: a_1\r\ntraceparent: " + std::string(trace) + "\r\n").body,
            "127.0.0.1 http a_1 " + std::string(trace));
  EXPECT_THAT(client.get("/whoami", "X-Request-Id: bad id\r\ntraceparent: x\r\n").body,
              MatchesRegex("127.0.0.1 http [0-9a-f]{32} 00-[0-9a-f]{32}-[0-9a-f]{16}-01"));
}

TEST(HttpServer, only_trusted_proxies_are_believed) {
  const TestServer doubting;
  RawClient stranger(doubting.port());
  EXPECT_THAT(stranger.get("/whoami", "X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\n").body,
              testing::StartsWith("127.0.0.1 http "));
  http::ServerConfig config = quick_config();
  config.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8"};
  const TestServer trusting(config);
  RawClient proxy(trusting.port());
  EXPECT_THAT(proxy.get("/whoami", "X-Forwarded-For: 6.6.6.6, 9.9.9.9, 10.1.1.1\r\nX-Forwarded-Proto: https\r\n").body,
              testing::StartsWith("9.9.9.9 https "));
}

TEST(HttpServer, the_proxy_protocol_is_spoken_with_configured_peers) {
  http::ServerConfig config = quick_config();
  config.proxy_protocol_from = {"127.0.0.1"};
  const TestServer server(config);
  RawClient first(server.port());
  first.send("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n");
  EXPECT_THAT(first.get("/whoami").body, testing::StartsWith("192.0.2.7 "));

  RawClient second(server.port());
  second.send(std::string("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x08\xc6\x33\x64\x01\x12\x34\x01\xbb", 28));
  EXPECT_THAT(second.get("/whoami").body, testing::StartsWith("192.0.2.8 "));

  RawClient silent(server.port());
  silent.try_send("GET /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(silent.read_to_end(), "");

  const TestServer other;
  RawClient stranger(other.port());
  stranger.send("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n\r\n");
  EXPECT_EQ(stranger.read_response().status, 400);
}

TEST(HttpServer, draining_finishes_what_is_in_flight_and_closes_what_is_idle) {
  TestServer server;
  RawClient idle(server.port());
  EXPECT_EQ(idle.get("/hello").status, 200);
  RawClient busy(server.port());
  busy.send("GET /late HTTP/1.1\r\nHost: test\r\n\r\n");
  RawClient half(server.port());
  half.send(
      "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(half.read_response().status, 100);

  std::thread drain([&server] { server.server().drain(1min); });
  EXPECT_EQ(idle.read_to_end(), "");
  half.send("{}");
  const RawResponse last = half.read_response();
  EXPECT_EQ(last.body, "{}");
  EXPECT_EQ(last.header("Connection"), "close");
  EXPECT_EQ(busy.read_response().status, 503);
  drain.join();
  EXPECT_THROW(RawClient(server.port()), std::runtime_error);
}

TEST(HttpServer, draining_does_not_wait_for_ever) {
  TestServer server;
  RawClient busy(server.port());
  busy.send("GET /wait HTTP/1.1\r\nHost: test\r\n\r\n");
  RawClient probe(server.port());
  EXPECT_EQ(probe.get("/hello").status, 200);
  server.server().drain(50ms);
  EXPECT_EQ(busy.read_to_end(), "");
}

}  // namespace
}  // namespace sluice::test
