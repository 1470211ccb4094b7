// How the PostgreSQL driver finds its server, and how long it tries.
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/system_clock.h"
#include "runtime/task_scope.h"
#include "tests/contract/postgres_engines.h"
#include "tests/support/cache_folder.h"
#include "tests/support/needs.h"

namespace sluice::test {
namespace {

using asio::ip::tcp;

// Accepts every connection and never completes a login.
class BadServer {
 public:
  enum class Manner {
    silent,
    dripping,  // a byte now and then, of an error message that does not end
  };

  BadServer(Manner manner, Clock& clock)
      : manner_(manner),
        clock_(clock),
        acceptor_(context_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        scope_(context_.get_executor()) {
    scope_.spawn("accept", accept());
    thread_ = std::thread([this] { context_.run(); });
  }
  ~BadServer() {
    asio::co_spawn(context_, scope_.close(), asio::use_future).get();
    thread_.join();
  }
  BadServer(const BadServer&) = delete;
  BadServer& operator=(const BadServer&) = delete;

  uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  Task<> accept() {
    while (true) {
      tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      scope_.spawn("serve", serve(std::move(socket)));
    }
  }

  Task<> serve(tcp::socket socket) {
    std::string bytes("E\0\0\x4E\x20", 5);
    while (true) {
      try {
        if (manner_ == Manner::dripping) co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
      } catch (const boost::system::system_error&) {
        co_return;  // the client has had enough
      }
      bytes = "x";
      co_await clock_.sleep_for(50ms);
    }
  }

  const Manner manner_;
  Clock& clock_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  TaskScope scope_;
  std::thread thread_;
};

class PostgresConnecting : public TaskFixture {
 protected:
  void SetUp() override { SLUICE_NEEDS(PostgresServer::why_missing(15)); }

  // Hosts with their ports as they stand in a URL.
  void open(const std::string& hosts, Duration connect_timeout = 30s, const std::string& settings = "sslmode=disable") {
    postgres::PostgresConfig config = postgres_config(shared_postgres());
    config.url = fmt::format("postgresql://{}/sluice?{}", hosts, settings);
    config.connect_timeout = connect_timeout;
    database_.emplace(std::move(config), thread_, clock_);
  }
  static std::string at(const std::string& host, uint16_t port) { return fmt::format("{}:{}", host, port); }
  static std::string real_port_at(const std::string& host) { return at(host, shared_postgres().port()); }

  void expect_answer() { EXPECT_EQ(run(database_->read("SELECT 1")).one().integer(0), 1); }
  std::string error() {
    try {
      run(database_->read("SELECT 1"));
    } catch (const EngineUnavailable& error) {
      return error.what();
    }
    return "none";
  }

  SystemClock clock_;
  postgres::EngineThread thread_;
  std::optional<postgres::PostgresDatabase> database_;
};

TEST_F(PostgresConnecting, a_host_may_be_a_name) {
  open(real_port_at("localhost"));
  expect_answer();
}

TEST_F(PostgresConnecting, a_name_that_nobody_knows_is_told) {
  const std::string unknown(64, 'x');  // longer than a valid name, so no server is asked
  open(at(unknown, 5432));
  EXPECT_THAT(error(), testing::HasSubstr(unknown));
}

TEST_F(PostgresConnecting, the_second_host_is_tried_where_nobody_knows_the_first) {
  open(at(std::string(64, 'x'), 5432) + "," + real_port_at("localhost"));
  expect_answer();
}

TEST_F(PostgresConnecting, the_second_host_is_tried_where_the_first_refuses) {
  open(at("127.0.0.1", 1) + "," + real_port_at("127.0.0.1"));
  expect_answer();
}

TEST_F(PostgresConnecting, the_second_host_is_tried_in_time_where_the_first_is_silent) {
  const BadServer silent(BadServer::Manner::silent, clock_);
  open(at("127.0.0.1", silent.port()) + "," + real_port_at("127.0.0.1"), 6s);
  expect_answer();
}

TEST_F(PostgresConnecting, who_is_not_let_in_does_not_try_the_next_host) {
  postgres::PostgresConfig config = postgres_config(shared_postgres());
  const std::string hosts = real_port_at("127.0.0.1") + "," + real_port_at("127.0.0.1");
  config.url = fmt::format("postgresql://{}/nowhere?sslmode=disable", hosts);
  database_.emplace(std::move(config), thread_, clock_);
  const std::string told = error();
  const size_t reason = told.find("\"nowhere\" does not exist");
  ASSERT_NE(reason, std::string::npos) << told;
  EXPECT_EQ(told.find("\"nowhere\" does not exist", reason + 1), std::string::npos) << told;
}

TEST_F(PostgresConnecting, any_server_will_do_where_no_standby_is) {
  open(at("127.0.0.1", 1) + "," + real_port_at("127.0.0.1"), 30s,
       "sslmode=disable&target_session_attrs=prefer-standby");
  expect_answer();
}

TEST_F(PostgresConnecting, a_silent_server_is_given_up_in_time) {
  const BadServer silent(BadServer::Manner::silent, clock_);
  const Instant start = clock_.now();
  open(at("127.0.0.1", silent.port()), 200ms);
  EXPECT_THAT(error(), testing::HasSubstr("timed out"));
  EXPECT_LT(clock_.now() - start, 30s);
}

TEST_F(PostgresConnecting, the_time_limit_is_for_the_whole_not_for_every_byte) {
  const BadServer dripping(BadServer::Manner::dripping, clock_);
  const Instant start = clock_.now();
  open(at("127.0.0.1", dripping.port()), 500ms);
  EXPECT_THAT(error(), testing::HasSubstr("timed out"));
  EXPECT_LT(clock_.now() - start, 30s);
}

// The name is looked up by us and still stands in for the certificate.
TEST_F(PostgresConnecting, a_certificate_is_checked_against_the_name_not_the_address) {
  const TemporaryFolder folder("sluice-postgres-tls");
  run_program(
      {.arguments = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                     folder / "key.pem", "-out", folder / "certificate.pem"}});
  for (const auto& path : {folder.path(), folder / "key.pem", folder / "certificate.pem"}) {
    give_to_unprivileged_user(path);
  }
  const PostgresServer server(
      {.settings = {"ssl=on", fmt::format("ssl_cert_file={}", (folder / "certificate.pem").string()),
                    fmt::format("ssl_key_file={}", (folder / "key.pem").string())}});
  const std::string verify = fmt::format("sslmode=verify-full&sslrootcert={}", (folder / "certificate.pem").string());
  open(at("localhost", server.port()), 30s, verify);
  EXPECT_TRUE(run(database_->read("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")).one().boolean(0));
  open(at("127.0.0.1", server.port()), 30s, verify);
  EXPECT_THAT(error(), testing::HasSubstr("does not match host name"));
}

}  // namespace
}  // namespace sluice::test
