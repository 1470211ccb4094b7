// Failures on their way to Sentry.
#include <gmock/gmock.h>

#include "adapters/sentry/sentry_sink.h"
#include "runtime/metrics.h"
#include "tests/scenario/http_client_fixture.h"
#include "tests/support/manual_clock.h"

namespace sluice {
namespace {

using http::Call;
using http::Reply;
using test::ScriptedServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ErrorReports : public http::HttpClient {
 protected:
  ~ErrorReports() override { close(); }

  void connect(const ScriptedServer& server, size_t max_waiting = 200) {
    const sentry::SentryConfig config{.dsn = fmt::format("http://publickey@127.0.0.1:{}/team/7", server.port()),
                                      .max_waiting = max_waiting};
    sink_ = std::make_unique<sentry::SentrySink>(config, sentry::Sender{"sluice@1.0", "test", "host"}, time_, random_,
                                                 context.get_executor());
    sink_->start();
  }
  // While no time passes.
  void close() {
    if (sink_) wait_for(sink_->close());
    sink_.reset();
  }
  // How much time had to pass.
  Duration close_while_time_passes() {
    const Instant begun = time_.now();
    TaskScope scope(context.get_executor());
    scope.spawn("time", pass(*this));
    close();
    wait_for(scope.join());
    return std::chrono::floor<Duration>(time_.now() - begun);
  }
  static Task<> pass(ErrorReports& test) {
    while (test.sink_) {
      test.time_.jump(10ms);
      co_await test.clock.sleep_for(1ms);
    }
  }
  void tell(const std::string& message) {
    sink_->report({.at = clock.wall(), .type = "mail failed", .message = message, .tags = {{"kind", "mail"}}});
  }
  static uint64_t counted(const std::string& outcome) {
    const std::string all = metrics::expose();
    const std::string line = fmt::format("error_reports_total{{outcome=\"{}\"}} ", outcome);
    const size_t at = all.find(line);
    return at == std::string::npos ? 0 : std::stoull(all.substr(at + line.size()));
  }
  void run_until(const std::function<bool()>& done) {
    const Instant end = clock.now() + 60s;
    while (!done() && clock.now() < end) {
      context.restart();
      context.run_one_for(10ms);
    }
    EXPECT_TRUE(done());
  }

  test::ManualClock time_;
  SeededRandom random_{5};
  std::unique_ptr<sentry::SentrySink> sink_;
};

TEST_F(ErrorReports, a_report_arrives_as_an_envelope_without_what_is_nobodys_business) {
  ScriptedServer server([](const Call&) { return http::ok("{}"); });
  connect(server);
  tell("GET https://a.example/x?session=1 for bob@example.com: 401");
  run_until([&] { return !server.requests().empty(); });
  const std::string request = server.requests().at(0);
  EXPECT_THAT(request, AllOf(HasSubstr("POST /team/api/7/envelope/ HTTP/1.1\r\n"),
                             HasSubstr("Content-Type: application/x-sentry-envelope\r\n"),
                             HasSubstr("sentry_version=7"), HasSubstr("sentry_key=publickey"),
                             HasSubstr(R"("type":"event")"), HasSubstr(R"("type":"mail failed")"),
                             HasSubstr("GET https://a.example/x?[query] for [e-mail]: 401")));
  EXPECT_THAT(request, AllOf(Not(HasSubstr("session")), Not(HasSubstr("bob@"))));
}

TEST_F(ErrorReports, what_waits_is_sent_before_it_closes) {
  ScriptedServer server([](const Call&) { return http::ok("{}"); });
  connect(server);
  for (int i = 0; i < 5; ++i) tell(fmt::format("number {}", i));
  close();
  EXPECT_EQ(server.requests().size(), 5U);
}

TEST_F(ErrorReports, a_sink_that_does_not_answer_holds_up_nobody_and_more_than_the_queue_is_dropped) {
  ScriptedServer server([](const Call&) { return Reply{.bytes = "", .then = http::Then::stall}; });
  connect(server, 10);
  const uint64_t before = counted("full");
  for (int i = 0; i < 1'000; ++i) tell("again");
  EXPECT_EQ(counted("full") - before, 990U);
  run_until([&] { return server.requests().size() == 1; });
  EXPECT_LT(close_while_time_passes(), 5s);
}

TEST_F(ErrorReports, a_server_that_asks_for_a_pause_gets_it) {
  ScriptedServer server([](const Call&) {
    return Reply{.bytes = "HTTP/1.1 429 Slow down\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"};
  });
  connect(server);
  const uint64_t before = counted("limited");
  for (int i = 0; i < 5; ++i) tell("again");
  run_until([&] { return counted("limited") > before; });
  close_while_time_passes();
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(ErrorReports, a_refused_report_is_dropped_and_the_next_one_sent) {
  ScriptedServer server([](const Call& call) {
    return call.request.contains("first") ? Reply{.bytes = "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"}
                                          : http::ok("{}");
  });
  connect(server);
  const uint64_t before = counted("refused");
  tell("first");
  tell("second");
  close();
  EXPECT_EQ(counted("refused") - before, 1U);
  EXPECT_EQ(server.requests().size(), 2U);
}

}  // namespace
}  // namespace sluice
