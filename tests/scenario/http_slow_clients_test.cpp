// The HTTP server with clients that read slowly, and with those that have gone.
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/log.h"
#include "runtime/metrics.h"
#include "tests/scenario/test_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void pause(Duration time) {
  timespec left{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(time).count()};
  ::nanosleep(&left, nullptr);  // allowed: a slow client, not a wait
}

// Asks for `count` answers of three megabytes each, and takes them only as fast as it reads.
void ask_for_much(RawClient& client, int count) {
  const int small = 64 << 10;
  ::setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  std::string requests;
  for (int i = 0; i < count; ++i) requests += "GET /shared HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(requests);
}

// The value of the metric's line that begins with `name`.
double metric(std::string_view name) {
  const std::string all = "\n" + metrics::expose();
  const size_t at = all.find("\n" + std::string(name) + " ");
  return at == std::string::npos ? 0 : std::stod(all.substr(at + name.size() + 2));
}

TEST(SlowClients, a_reader_who_takes_a_little_now_and_then_is_dropped) {
  http::ServerConfig config = quick_config();
  config.write_timeout = 100ms;
  config.min_write_rate = 10 << 20;
  const TestServer server(config);
  const double before = metric("http_rejected_total{reason=\"slow_reader\"}");
  RawClient client(server.port());
  ask_for_much(client, 10);
  RawClient probe(server.port());
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  std::array<char, 20'000> little;
  while (probe.get("/connections").body != "1") {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    ::recv(client.descriptor(), little.data(), little.size(), MSG_DONTWAIT);
    pause(20ms);
  }
  EXPECT_EQ(metric("http_rejected_total{reason=\"slow_reader\"}"), before + 1);
}

TEST(SlowClients, a_slow_reader_who_keeps_reading_gets_everything) {
  http::ServerConfig config = quick_config();
  config.write_timeout = 300ms;
  config.min_write_rate = 10 << 10;
  ManualClock clock;
  TestServer server(config, 1, quiet_sse(), &clock);
  RawClient client(server.port());
  ask_for_much(client, 2);
  std::vector<char> some(64 << 10);
  size_t got = 0;
  Duration passed{};
  while (got < 6'000'000) {
    const ssize_t step = ::recv(client.descriptor(), some.data(), some.size(), 0);
    if (step < 0 && errno == EINTR) continue;
    ASSERT_GT(step, 0) << got;
    got += static_cast<size_t>(step);
    // A tick for every 64 KiB: far more than the sockets hold is read between two looks of the server.
    for (; passed < got / some.size() * config.tick; passed += config.tick) server.advance(clock, config.tick);
  }
  EXPECT_GT(passed, 2 * config.write_timeout);
}

TEST(SlowClients, a_get_whose_client_has_hung_up_is_stopped) {
  http::ServerConfig config = quick_config();
  config.hang_up_check = 20ms;
  const TestServer server(config);
  constexpr std::string_view counted = R"(http_requests_total{method="GET",route="/wait",status="499"})";
  const double before = metric(counted);
  RawClient(server.port()).send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (metric(counted) == before) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

TEST(SlowClients, a_client_that_is_there_gets_its_answer_however_often_that_is_checked) {
  http::ServerConfig config = quick_config();
  config.hang_up_check = 10ms;
  const TestServer server(config);
  RawClient client(server.port());
  EXPECT_EQ(client.get("/pause").body, "rested");
  EXPECT_EQ(client.get("/late").status, 503);
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST(SlowClients, a_client_that_has_only_closed_its_half_is_told) {
  http::ServerConfig config = quick_config();
  config.hang_up_check = 20ms;
  const TestServer server(config);
  RawClient client(server.port());
  client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  client.shutdown();
  EXPECT_EQ(client.read_response().status, 499);
}

TEST(SlowClients, what_is_pipelined_before_the_end_is_answered) {
  http::ServerConfig config = quick_config();
  config.hang_up_check = 20ms;
  const TestServer server(config);
  RawClient client(server.port());
  client.send("GET /pause HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  client.shutdown();
  EXPECT_EQ(client.read_response().body, "rested");
  EXPECT_EQ(client.read_response().body, "hello");
}

TEST(SlowClients, what_changes_something_is_seen_through) {
  http::ServerConfig config = quick_config();
  config.hang_up_check = 20ms;
  const TestServer server(config);
  RawClient client(server.port());
  client.send("POST /pause HTTP/1.1\r\nHost: a\r\n\r\n");
  client.shutdown();
  EXPECT_EQ(client.read_response().body, "rested");
}

TEST(SlowClients, a_streamed_body_that_used_up_its_time_leaves_none_to_the_handler) {
  const TestServer server;
  RawClient client(server.port());
  client.send("POST /count_late HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1");
  pause(100ms);
  client.send("2");
  EXPECT_EQ(client.read_response().status, 503);
}

TEST(SlowClients, a_head_that_is_late_is_counted) {
  http::ServerConfig config = quick_config();
  config.head_timeout = 50ms;
  TestServer server(config);
  constexpr std::string_view counted = R"(http_requests_total{method="OTHER",route="none",status="408"})";
  const double before = metric(counted);
  const auto client = server.connect_with("GET /hel");
  EXPECT_THAT(client->read_to_end(), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(metric(counted), before + 1);
}

// Lets this process open no further file while it lives.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest_free), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(SlowClients, without_files_to_open_clients_wait_and_the_log_says_so_once) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "UBSan opens files itself when it meets a type for the first time; the build under TSan tries this.";
#endif
  const TemporaryFolder folder;
  const std::string log_file = (folder / "log").string();
  const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  log::start({.level = log::Level::warning, .format = log::Format::json, .descriptor = log});
  {
    const TestServer server;
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const double before = metric("http_accept_failures_total");
    {
      const NoMoreFiles none;
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(server.port());
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      const auto give_up = std::chrono::steady_clock::now() + 60s;
      while (metric("http_accept_failures_total") < before + 3) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
    constexpr std::string_view request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::array<char, 12> answer{};
    EXPECT_EQ(::recv(client, answer.data(), answer.size(), MSG_WAITALL), 12);
    EXPECT_EQ(std::string_view(answer.data(), answer.size()), "HTTP/1.1 200");
    ::close(client);
  }
  log::stop();
  ::close(log);
  std::ifstream lines(log_file);
  const std::string text(std::istreambuf_iterator<char>(lines), {});
  EXPECT_THAT(text, HasSubstr("accept failed"));
  EXPECT_EQ(text.find("accept failed"), text.rfind("accept failed")) << text;
}

}  // namespace
}  // namespace sluice::test
