// How the client shares connections, and reads large or compressed answers.
#include <semaphore>

#include <zlib.h>

#include "runtime/task_scope.h"
#include "tests/scenario/http_client_fixture.h"
#include "tests/support/manual_clock.h"

namespace sluice::http {
namespace {

struct HttpClientPool : HttpClient {
  static Task<> call(HttpClientPool& test, ClientRequest request) {
    const Result<ClientAnswer, ClientError> answer = co_await test.client->send(std::move(request));
    test.outcomes.push_back(answer ? answer->body : std::string(name(answer.error().kind)));
  }

  // Sends all at once and waits for the last.
  void send_all(const std::vector<std::string>& urls, Duration timeout = 1min) {
    TaskScope scope(context.get_executor());
    for (const std::string& url : urls) {
      ClientRequest request = get(url);
      request.timeout = timeout;
      scope.spawn("call", call(*this, std::move(request)));
    }
    wait_for(scope.join());
  }

  std::vector<std::string> outcomes;
};

TEST_F(HttpClientPool, calls_beyond_the_limit_wait_for_a_connection) {
  make_client({.reach = Reach::anywhere, .max_per_origin = 2});
  ScriptedServer server([](const Call&) { return ok("done"); });
  send_all(std::vector(20, server.url("/")));
  EXPECT_EQ(outcomes, std::vector<std::string>(20, "done"));
  EXPECT_LE(server.connections(), 2U);
}

TEST_F(HttpClientPool, origins_share_the_total_limit) {
  make_client({.reach = Reach::anywhere, .max_per_origin = 2, .max_connections = 2});
  ScriptedServer a([](const Call&) { return ok("done"); });
  ScriptedServer b([](const Call&) { return ok("done"); });
  std::vector<std::string> urls;
  for (int i = 0; i < 10; ++i) {
    urls.push_back(a.url("/"));
    urls.push_back(b.url("/"));
  }
  send_all(urls);
  EXPECT_EQ(outcomes, std::vector<std::string>(20, "done"));
}

TEST_F(HttpClientPool, the_line_is_bounded_and_waiting_counts_toward_the_deadline) {
  make_client({.reach = Reach::anywhere, .max_per_origin = 1, .max_waiting = 2});
  std::binary_semaphore may_answer(0);
  ScriptedServer server([&may_answer](const Call&) {
    may_answer.acquire();
    return ok("first");
  });
  TaskScope first(context.get_executor());
  first.spawn("first", call(*this, get(server.url("/"))));
  send_all(std::vector(3, server.url("/")), 50ms);
  may_answer.release();
  wait_for(first.join());
  EXPECT_EQ(outcomes, (std::vector<std::string>{"busy", "timeout", "timeout", "first"}));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientPool, a_cancelled_call_frees_its_place) {
  make_client({.reach = Reach::anywhere, .max_per_origin = 1});
  ScriptedServer server([](const Call& call) { return asks_for(call, "/next") ? ok("next") : Reply{"", Then::stall}; });
  ClientRequest request = get(server.url("/"));
  request.timeout = 30ms;
  EXPECT_EQ(outcome(request), "timeout");
  EXPECT_EQ(outcome(get(server.url("/next"))), "200 next");
}

TEST_F(HttpClientPool, an_unused_connection_is_closed_after_a_while) {
  make_client({.reach = Reach::anywhere, .idle = 10ms});
  ScriptedServer server([](const Call& call) { return ok(std::to_string(call.on_connection)); });
  EXPECT_EQ(outcome(get(server.url("/"))), "200 0");
  wait_for(clock.sleep_for(50ms));
  EXPECT_EQ(outcome(get(server.url("/"))), "200 0");
  EXPECT_EQ(server.connections(), 2U);
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(HttpClientPool, gzip_is_decoded_where_it_was_asked_for) {
  ScriptedServer server([](const Call&) { return ok(gzip("hello"), "Content-Encoding: gzip\r\n"); });
  ClientRequest request = get(server.url("/"));
  EXPECT_EQ(send(request)->headers.get("Content-Encoding"), "gzip");
  request.gzip = true;
  const auto answer = send(request);
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(answer->body, "hello");
  EXPECT_FALSE(answer->headers.find("Content-Encoding"));
  EXPECT_FALSE(server.requests().at(0).contains("Accept-Encoding"));
  EXPECT_TRUE(server.requests().at(1).contains("Accept-Encoding: gzip\r\n"));
}

TEST_F(HttpClientPool, a_small_answer_may_not_decode_to_a_large_one) {
  ScriptedServer server(
      [](const Call&) { return ok(gzip(std::string(10'000'000, 'x')), "Content-Encoding: gzip\r\n"); });
  ClientRequest request = get(server.url("/"));
  request.gzip = true;
  request.max_bytes = 1'000'000;
  EXPECT_EQ(outcome(std::move(request)), "too-large");
}

TEST_F(HttpClientPool, gzip_that_is_cut_off_is_a_bad_answer) {
  ScriptedServer server([](const Call&) {
    const std::string whole = gzip("hello hello");
    return ok(whole.substr(0, whole.size() - 4), "Content-Encoding: gzip\r\n");
  });
  ClientRequest request = get(server.url("/"));
  request.gzip = true;
  EXPECT_EQ(outcome(std::move(request)), "bad-answer");
}

TEST_F(HttpClientPool, a_large_answer_is_read_in_pieces_and_its_connection_kept) {
  const std::string large(5'000'000, 'x');
  ScriptedServer server([&large](const Call&) { return ok(large); });
  for (int i = 0; i < 2; ++i) {
    Result<AnswerStream, ClientError> stream = wait_for(client->open(get(server.url("/"))));
    ASSERT_TRUE(stream) << stream.error().text;
    EXPECT_EQ(stream->status(), 200);
    size_t size = 0;
    size_t largest = 0;
    while (true) {
      const auto piece = wait_for(stream->next());
      ASSERT_TRUE(piece) << piece.error().text;
      if (!*piece) break;
      size += (*piece)->size();
      largest = std::max(largest, (*piece)->size());
    }
    EXPECT_EQ(size, large.size());
    EXPECT_LE(largest, 64U * 1024);
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(HttpClientPool, a_stream_that_is_dropped_closes_its_connection) {
  ScriptedServer server([](const Call&) { return ok(std::string(1'000'000, 'x')); });
  {
    const auto stream = wait_for(client->open(get(server.url("/"))));
  }
  EXPECT_TRUE(send(get(server.url("/"))));
  EXPECT_EQ(server.connections(), 2U);
}

Task<> pass_once_waited_for(test::ManualClock& clock, Duration time) {
  const Executor here = co_await asio::this_coro::executor;
  while (!clock.is_slept_on()) co_await asio::post(here, asio::use_awaitable);
  clock.jump(time);
}

TEST_F(HttpClientPool, a_stream_keeps_the_deadline_of_its_request) {
  ScriptedServer server([](const Call&) { return Reply{"HTTP/1.1 200 OK\r\n\r\nfirst", Then::stall}; });
  test::ManualClock manual;
  Client on_time(context.get_executor(), manual, {.reach = Reach::anywhere});
  {
    Result<AnswerStream, ClientError> stream = wait_for(on_time.open(get(server.url("/"))));
    ASSERT_TRUE(stream) << stream.error().text;
    EXPECT_EQ(wait_for(stream->next()).value(), "first");
    TaskScope time(context.get_executor());
    time.spawn("time", pass_once_waited_for(manual, 1min));
    EXPECT_EQ(wait_for(stream->next()).error().kind, Kind::timeout);
    wait_for(time.join());
  }
  wait_for(on_time.close());
}

Task<> call_stranger(Client& client, ClientRequest request) {
  const Result<ClientAnswer, ClientError> answer = co_await client.send(std::move(request));
  EXPECT_EQ(answer.error().kind, Kind::dns);
}

TEST_F(HttpClientPool, name_servers_of_strangers_that_hang_do_not_stall_calls_to_origins) {
  std::counting_semaphore<> may_answer(0);
  const auto hang = [&may_answer](const std::string&) -> Addresses {
    may_answer.acquire();
    return std::unexpected("not found");
  };
  Client of_strangers(context.get_executor(), clock, {.resolver = {.ask = hang}});
  TaskScope strangers(context.get_executor());
  for (int i = 0; i < 50; ++i) {
    strangers.spawn("stranger", call_stranger(of_strangers, get(fmt::format("http://slow{}.example/", i))));
  }
  make_client({.reach = Reach::anywhere});
  ScriptedServer origin([](const Call&) { return ok("done"); });
  EXPECT_EQ(outcome(get(fmt::format("http://localhost:{}/", origin.port()))), "200 done");
  EXPECT_EQ(strangers.running(), 50U);
  may_answer.release(50);
  wait_for(strangers.join());
  wait_for(of_strangers.close());
}

}  // namespace
}  // namespace sluice::http
