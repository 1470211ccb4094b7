// The client against servers that behave badly.
#include "tests/scenario/http_client_fixture.h"

namespace sluice::http {
namespace {

TEST_F(HttpClient, sends_what_it_is_given) {
  ScriptedServer server([](const Call&) { return ok("made", "X-Answer: yes\r\n"); });
  ClientRequest request{.method = Method::post, .url = *Url::parse(server.url("/things?a=b")), .body = "{}"};
  request.headers.add("Content-Type", "application/json");
  request.request_id = "r-1";
  request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto answer = send(std::move(request));
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->body, "made");
  EXPECT_EQ(answer->headers.get("x-answer"), "yes");
  EXPECT_EQ(server.requests().at(0),
            fmt::format("POST /things?a=b HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUser-Agent: sluice\r\nX-Request-Id: r-1\r\n"
                        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
                        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}",
                        server.port()));
}

TEST_F(HttpClient, refuses_headers_that_would_change_the_request) {
  ScriptedServer server([](const Call&) { return ok("never"); });
  for (const auto& [field, value] : std::vector<std::pair<std::string, std::string>>{
           {"X", "a\r\nY: b"}, {"Bad name", "x"}, {"Content-Length", "5"}, {"host", "elsewhere"}}) {
    ClientRequest request = get(server.url("/"));
    request.headers.add(field, value);
    EXPECT_EQ(outcome(std::move(request)), "bad-request") << field;
  }
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST_F(HttpClient, reads_chunks_and_bodies_that_end_with_the_connection) {
  ScriptedServer server([](const Call& call) {
    if (asks_for(call, "/chunked")) {
      return Reply{.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"};
    }
    return Reply{.bytes = "HTTP/1.0 200 OK\r\n\r\nhello", .then = Then::close};
  });
  EXPECT_EQ(outcome(get(server.url("/chunked"))), "200 hello!");
  EXPECT_EQ(outcome(get(server.url("/closing"))), "200 hello");
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, half_an_answer_is_no_answer) {
  ScriptedServer server([](const Call& call) {
    if (asks_for(call, "/sized")) return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::close};
    if (asks_for(call, "/chunked")) {
      return Reply{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", Then::close};
    }
    if (asks_for(call, "/reset")) return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::reset};
    return Reply{"HTTP/1.1 200 O", Then::close};
  });
  for (const char* path : {"/sized", "/chunked", "/reset", "/head"}) {
    EXPECT_EQ(outcome(get(server.url(path))), "closed") << path;
  }
}

TEST_F(HttpClient, what_is_no_http_is_a_bad_answer) {
  ScriptedServer server([](const Call&) { return Reply{"SSH-2.0-OpenSSH_9.2\r\n\r\n"}; });
  EXPECT_EQ(outcome(get(server.url("/"))), "bad-answer");
}

TEST_F(HttpClient, one_deadline_covers_head_and_body) {
  ScriptedServer server([](const Call& call) {
    if (asks_for(call, "/head")) return Reply{"HTTP/1.1 200 OK\r\n", Then::stall};
    return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::stall};
  });
  for (const char* path : {"/head", "/body"}) {
    ClientRequest request = get(server.url(path));
    request.timeout = 50ms;
    const Instant start = clock.now();
    EXPECT_EQ(outcome(std::move(request)), "timeout") << path;
    EXPECT_LT(clock.now() - start, 30s);
  }
}

TEST_F(HttpClient, the_nearer_of_timeout_and_deadline_counts) {
  ScriptedServer server([](const Call&) { return Reply{"", Then::stall}; });
  ClientRequest request = get(server.url("/"));
  request.timeout = 1h;
  request.deadline = Deadline::after(clock, 20ms);
  EXPECT_EQ(outcome(std::move(request)), "timeout");
}

TEST_F(HttpClient, size_is_capped_while_reading) {
  ScriptedServer server([](const Call& call) {
    const std::string large(3000, 'x');
    if (asks_for(call, "/declared")) return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n", Then::stall};
    if (asks_for(call, "/chunked")) {
      return Reply{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nbb8\r\n" + large, Then::stall};
    }
    if (asks_for(call, "/head")) return Reply{"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'), Then::stall};
    return Reply{"HTTP/1.1 200 OK\r\n\r\n" + large, Then::stall};
  });
  for (const char* path : {"/declared", "/chunked", "/endless", "/head"}) {
    ClientRequest request = get(server.url(path));
    request.max_bytes = 1000;
    EXPECT_EQ(outcome(std::move(request)), "too-large") << path;
  }
}

TEST_F(HttpClient, connections_are_kept_and_used_again) {
  ScriptedServer server([](const Call& call) { return ok(std::to_string(call.on_connection)); });
  EXPECT_EQ(outcome(get(server.url("/"))), "200 0");
  EXPECT_EQ(outcome(get(server.url("/"))), "200 1");
  EXPECT_EQ(outcome(get(server.url("/"))), "200 2");
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, a_connection_with_bytes_behind_the_answer_is_not_used_again) {
  ScriptedServer server([](const Call&) {
    return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"};
  });
  EXPECT_EQ(outcome(get(server.url("/"))), "200 ok");
  EXPECT_EQ(outcome(get(server.url("/"))), "200 ok");
  EXPECT_EQ(server.connections(), 2U);
}

// The server closes the kept connection instead of answering a second request on it.
Reply answer_once(const Call& call) {
  if (call.on_connection > 0) return {.bytes = "", .then = Then::close};
  return ok("fresh");
}

TEST_F(HttpClient, a_stale_connection_is_replaced_once) {
  ScriptedServer server(answer_once);
  EXPECT_EQ(outcome(get(server.url("/"))), "200 fresh");
  EXPECT_EQ(outcome(get(server.url("/"))), "200 fresh");
  EXPECT_EQ(server.connections(), 2U);
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(HttpClient, a_post_is_never_repeated) {
  ScriptedServer server(answer_once);
  EXPECT_EQ(outcome(get(server.url("/"))), "200 fresh");
  ClientRequest request = get(server.url("/"));
  request.method = Method::post;
  EXPECT_EQ(outcome(std::move(request)), "closed");
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(HttpClient, a_failure_on_a_new_connection_is_not_repeated) {
  ScriptedServer server([](const Call&) { return Reply{"", Then::close}; });
  EXPECT_EQ(outcome(get(server.url("/"))), "closed");
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClient, an_early_answer_to_a_large_body_is_heard) {
  ScriptedServer server(
      [](const Call&) { return Reply{"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", Then::close}; },
      {.tls = nullptr, .read_bodies = false});
  ClientRequest request = get(server.url("/"));
  request.method = Method::put;
  request.body = std::string(4 << 20, 'x');
  EXPECT_EQ(outcome(std::move(request)), "413 ");
}

TEST_F(HttpClient, nobody_there_is_refused) {
  // Bound, so that no other program gets the port, but not listening.
  using asio::ip::tcp;
  const tcp::socket bound(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  const uint16_t port = bound.local_endpoint().port();
  EXPECT_EQ(outcome(get(fmt::format("http://127.0.0.1:{}/", port))), "refused");
}

TEST_F(HttpClient, a_name_that_does_not_exist_is_a_dns_failure) {
  // Where no name server answers, the search lasts longer than the call may.
  ClientRequest request = get("http://nowhere.invalid/");
  request.timeout = 10s;
  const std::string result = outcome(std::move(request));
  EXPECT_TRUE(result == "dns" || result == "timeout") << result;
}

TEST_F(HttpClient, a_name_is_looked_up_and_called) {
  ScriptedServer server([](const Call&) { return ok("home"); });
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "200 home");
}

TEST_F(HttpClient, redirects_are_the_answer_unless_they_are_followed) {
  ScriptedServer server([](const Call& call) { return asks_for(call, "/a") ? redirect(302, "b?c") : ok("b"); });
  EXPECT_EQ(outcome(get(server.url("/a"))), "302 move");
  ClientRequest request = get(server.url("/a"));
  request.redirects = Redirects::same_host;
  const auto answer = send(std::move(request));
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->body, "b");
  EXPECT_EQ(answer->url.target(), "/b?c");
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClient, a_redirect_loop_ends) {
  ScriptedServer server([](const Call&) { return redirect(301, "/"); });
  ClientRequest request = get(server.url("/"));
  request.redirects = Redirects::any;
  request.max_redirects = 3;
  EXPECT_EQ(outcome(std::move(request)), "too-many-redirects");
  EXPECT_EQ(server.requests().size(), 4U);
}

TEST_F(HttpClient, a_redirect_off_the_host_follows_the_policy_and_leaves_credentials_behind) {
  ScriptedServer target([](const Call&) { return ok("target"); });
  ScriptedServer server([&target](const Call&) { return redirect(307, target.url("/x", "localhost")); });
  ClientRequest request = get(server.url("/"));
  request.headers.add("Authorization", "Bearer secret");
  request.headers.add("X-Kept", "yes");
  request.redirects = Redirects::same_host;
  EXPECT_EQ(outcome(request), "redirect-refused");
  EXPECT_EQ(target.requests().size(), 0U);
  request.redirects = Redirects::any;
  EXPECT_EQ(outcome(request), "200 target");
  EXPECT_FALSE(target.requests().at(0).contains("secret"));
  EXPECT_TRUE(target.requests().at(0).contains("X-Kept: yes"));
}

TEST_F(HttpClient, a_redirect_after_post_becomes_a_get_unless_it_says_otherwise) {
  ScriptedServer server([](const Call& call) {
    if (asks_for(call, "/see-other")) return redirect(303, "/done");
    return asks_for(call, "/again") ? redirect(308, "/done") : ok("done");
  });
  for (const char* path : {"/see-other", "/again"}) {
    ClientRequest request{.method = Method::post, .url = *Url::parse(server.url(path)), .body = "data"};
    request.redirects = Redirects::same_host;
    EXPECT_EQ(outcome(std::move(request)), "200 done");
  }
  EXPECT_TRUE(server.requests().at(1).starts_with("GET /done"));
  EXPECT_FALSE(server.requests().at(1).contains("data"));
  EXPECT_TRUE(server.requests().at(3).starts_with("POST /done"));
  EXPECT_TRUE(server.requests().at(3).ends_with("data"));
}

TEST_F(HttpClient, own_surroundings_are_not_called_not_even_by_redirect) {
  ScriptedServer server([](const Call&) { return redirect(302, "http://169.254.169.254/latest/meta-data/"); });
  ClientRequest request = get(server.url("/"));
  request.redirects = Redirects::any;
  EXPECT_EQ(outcome(request), "forbidden-address");
  EXPECT_EQ(outcome(get("http://10.0.0.1/")), "forbidden-address");
  EXPECT_EQ(outcome(get("http://[::ffff:127.0.0.1]/")), "forbidden-address");

  make_client({});  // the default: public only
  EXPECT_EQ(outcome(get(server.url("/"))), "forbidden-address");
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "forbidden-address");
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace sluice::http
