// Whom the Redis client believes.
#include <gmock/gmock.h>

#include "tests/scenario/redis_client_fixture.h"
#include "tests/support/certificates.h"
#include "tests/support/free_port.h"

namespace sluice::redis {
namespace {

using testing::HasSubstr;

struct RedisTls : RedisClient {
  void start_server(const std::string& certificate) {
    port = test::free_port();
    server.emplace(test::RedisOptions{.settings = {fmt::format("tls-port {}", port), "tls-auth-clients no",
                                                   "tls-cert-file " + certificates().file(certificate + ".pem"),
                                                   "tls-key-file " + certificates().file(certificate + ".key"),
                                                   "tls-ca-cert-file " + certificates().file("ca.pem")}});
  }
  std::string url(const std::string& host) const { return fmt::format("rediss://{}:{}", host, port); }

  static const test::Certificates& certificates() {
    static const test::Certificates made;
    return made;
  }

  uint16_t port = 0;
  std::optional<test::RedisServer> server;
};

TEST_F(RedisTls, a_server_with_the_right_certificate_is_used_by_name_and_by_address) {
  start_server("here");
  for (const char* host : {"localhost", "127.0.0.1"}) {
    connect({.url = url(host), .ca_file = certificates().file("ca.pem")});
    const std::string large(1 << 20, 'x');
    run(Command("SET").key("a").arg(large));
    EXPECT_EQ(run(Command("GET").key("a")), Reply(large)) << host;
  }
}

TEST_F(RedisTls, many_commands_at_once_keep_their_replies) {
  start_server("here");
  connect({.url = url("localhost"), .ca_file = certificates().file("ca.pem")});
  std::vector<Pending> replies;
  for (int i = 0; i < 1000; ++i) replies.push_back(start(Command("ECHO").arg(i)));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(replies[static_cast<size_t>(i)].reply().integer(), i);
}

TEST_F(RedisTls, a_certificate_for_another_name_is_refused) {
  start_server("elsewhere");
  connect({.url = url("localhost"), .ca_file = certificates().file("ca.pem")});
  EXPECT_THAT(failure(Command("PING")), HasSubstr("TLS handshake"));
}

TEST_F(RedisTls, an_unknown_authority_is_refused) {
  start_server("here");
  connect({.url = url("localhost")});
  EXPECT_THAT(failure(Command("PING")), HasSubstr("TLS handshake"));
}

TEST_F(RedisTls, a_ca_file_that_is_none_is_said_at_once) {
  start_server("here");
  EXPECT_THROW(connect({.url = url("localhost"), .ca_file = "/nowhere/ca.pem"}), std::runtime_error);
}

}  // namespace
}  // namespace sluice::redis
