// Whom the client believes.
#include "tests/scenario/http_client_fixture.h"
#include "tests/support/certificates.h"

namespace sluice::http {
namespace {

const test::Certificates& certificates() {
  static const test::Certificates made;
  return made;
}

asio::ssl::context context_of(const std::string& name) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.use_certificate_chain_file(certificates().file(name + ".pem"));
  context.use_private_key_file(certificates().file(name + ".key"), asio::ssl::context::pem);
  return context;
}

struct HttpClientTls : HttpClient {
  void trust_test_authority() { make_client({.reach = Reach::anywhere, .ca_file = certificates().file("ca.pem")}); }
};

TEST_F(HttpClientTls, a_server_with_the_right_certificate_is_called_and_the_connection_kept) {
  trust_test_authority();
  asio::ssl::context tls = context_of("here");
  ScriptedServer server([](const Call&) { return ok("secret"); }, {.tls = &tls});
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "200 secret");
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "200 secret");
  EXPECT_EQ(server.connections(), 1U);
  EXPECT_EQ(outcome(get(server.url("/"))), "200 secret") << "by address";
}

TEST_F(HttpClientTls, a_certificate_for_another_name_is_refused) {
  trust_test_authority();
  asio::ssl::context tls = context_of("elsewhere");
  ScriptedServer server([](const Call&) { return ok("secret"); }, {.tls = &tls});
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "tls");
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST_F(HttpClientTls, an_unknown_authority_is_refused) {
  asio::ssl::context tls = context_of("here");
  ScriptedServer server([](const Call&) { return ok("secret"); }, {.tls = &tls});
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "tls");
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST_F(HttpClientTls, a_server_without_tls_is_refused) {
  trust_test_authority();
  ScriptedServer server([](const Call&) { return ok("plain"); });
  ClientRequest request = get("https://localhost:" + std::to_string(server.port()) + "/");
  request.timeout = 1s;
  EXPECT_NE(outcome(std::move(request)), "200 plain");
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST_F(HttpClientTls, a_body_cut_off_under_tls_is_no_answer) {
  trust_test_authority();
  asio::ssl::context tls = context_of("here");
  ScriptedServer server([](const Call&) { return Reply{"HTTP/1.1 200 OK\r\n\r\nhalf?", Then::reset}; }, {.tls = &tls});
  EXPECT_EQ(outcome(get(server.url("/", "localhost"))), "closed");
}

TEST_F(HttpClientTls, a_redirect_never_leaves_tls_on_the_same_host) {
  trust_test_authority();
  asio::ssl::context tls = context_of("here");
  ScriptedServer server([](const Call&) { return redirect(302, "http://localhost/"); }, {.tls = &tls});
  ClientRequest request = get(server.url("/", "localhost"));
  request.redirects = Redirects::same_host;
  EXPECT_EQ(outcome(std::move(request)), "redirect-refused");
}

TEST_F(HttpClientTls, a_ca_file_that_is_none_is_said_at_once) {
  EXPECT_THROW(Client(context.get_executor(), clock, {.ca_file = "/nowhere/ca.pem"}), std::runtime_error);
}

}  // namespace
}  // namespace sluice::http
