#include "http/server/server_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/sse/sse.h"
#include "runtime/config.h"

namespace sluice::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ServerConfigTest : testing::Test {
  ServerConfigTest() {
    loader.section("http", config);
    loader.section("sse", sse);
  }
  std::vector<std::string> load(const std::string& text) {
    std::vector<std::string> texts;
    for (const auto& problem : loader.load({.file = "s.toml", .text = text})) texts.push_back(problem.text());
    return texts;
  }

  ServerConfig config;
  SseConfig sse;
  config::Loader loader;
};

TEST_F(ServerConfigTest, what_is_printed_loads_again) {
  EXPECT_THAT(load(loader.print()), IsEmpty());
  EXPECT_THAT(loader.print(), HasSubstr("listen = \"127.0.0.1:8080\""));
}

TEST_F(ServerConfigTest, listen_is_an_address_and_a_port) {
  EXPECT_THAT(load("[http]\nlisten = '[::1]:0'"), IsEmpty());
  EXPECT_EQ(config.host, "::1");
  EXPECT_EQ(config.port, 0);
  EXPECT_THAT(loader.print(), HasSubstr("listen = \"[::1]:0\""));
}

TEST(ServerConfig, refuses_to_listen_nowhere) {
  for (const char* bad :
       {"8080", "localhost", "localhost:", "localhost:70000", "a b:80", "1.2.3:80", ":80", "[::1:80"}) {
    ServerConfig config;
    config::Loader loader;
    loader.section("http", config);
    EXPECT_EQ(loader.load({.flags = {{"http.listen", bad, "--listen"}}}).size(), 1) << bad;
  }
}

TEST_F(ServerConfigTest, names_what_is_no_network_and_what_tls_lacks) {
  EXPECT_THAT(load("[http]\ntrusted_proxies = ['10.0.0.0/99']\n[sse]\nheartbeat = '0s'"),
              ElementsAre(HasSubstr("s.toml:2: http.trusted_proxies must be a list of addresses or networks"),
                          HasSubstr("s.toml:4: sse.heartbeat must be at least \"1s\"")));
}

TEST_F(ServerConfigTest, tls_needs_certificate_and_key) {
  EXPECT_THAT(load("[http]\ntls_certificate = 'c.pem'"),
              ElementsAre("s.toml: http.tls_key is missing; TLS needs it beside tls_certificate"));
}

}  // namespace
}  // namespace sluice::http
