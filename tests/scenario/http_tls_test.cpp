// HTTP over TLS, with a certificate made for the test.
#include <array>
#include <filesystem>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "tests/scenario/test_server.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

namespace ssl = asio::ssl;
using Tcp = asio::ip::tcp;

void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& common_name = "localhost") {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* const host = reinterpret_cast<const unsigned char*>(common_name.c_str());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());

  FILE* const first = std::fopen(certificate_file.c_str(), "w");
  PEM_write_X509(first, certificate);
  std::fclose(first);
  FILE* const second = std::fopen(key_file.c_str(), "w");
  PEM_write_PrivateKey(second, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(second);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

class Tls : public testing::Test {
 protected:
  Tls() {
    config.tls_certificate = (folder.path() / "cert.pem").string();
    config.tls_key = (folder.path() / "key.pem").string();
    write_certificate(config.tls_certificate, config.tls_key);
    context.load_verify_file(config.tls_certificate);
    context.set_verify_mode(ssl::verify_peer);
  }

  std::unique_ptr<ssl::stream<Tcp::socket>> connect(uint16_t port) {
    auto stream = std::make_unique<ssl::stream<Tcp::socket>>(loop, context);
    stream->next_layer().connect({asio::ip::address_v4::loopback(), port});
    stream->handshake(ssl::stream_base::client);
    return stream;
  }

  static std::string read_until(ssl::stream<Tcp::socket>& stream, std::string_view text) {
    std::string got;
    while (!got.contains(text)) {
      std::array<char, 4096> bytes;
      const size_t size = stream.read_some(asio::buffer(bytes));
      got.append(bytes.data(), size);
    }
    return got;
  }

  TemporaryFolder folder;
  http::ServerConfig config = quick_config();
  asio::io_context loop;
  ssl::context context{ssl::context::tls_client};
};

TEST_F(Tls, requests_and_answers_go_through) {
  const TestServer server(config);
  const auto stream = connect(server.port());
  for (int i = 0; i < 2; ++i) {
    asio::write(*stream, asio::buffer(std::string("GET /whoami HTTP/1.1\r\nHost: test\r\n\r\n")));
    EXPECT_THAT(read_until(*stream, "-01"), testing::HasSubstr("127.0.0.1 https "));
  }
  asio::write(*stream, asio::buffer(std::string("GET /shared HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")));
  size_t total = 0;
  boost::system::error_code end;
  std::vector<char> bytes(65536);
  while (!end) total += stream->read_some(asio::buffer(bytes), end);
  EXPECT_GT(total, 3'000'000U);
}

TEST_F(Tls, old_versions_are_refused) {
  const TestServer server(config);
  SSL_CTX_set_max_proto_version(context.native_handle(), TLS1_1_VERSION);
  EXPECT_THROW(connect(server.port()), boost::system::system_error);
}

TEST_F(Tls, a_client_that_does_not_speak_http_1_is_told_so_in_the_handshake) {
  const TestServer server(config);
  const std::string only_h2 = "\x02h2";
  SSL_CTX_set_alpn_protos(context.native_handle(), reinterpret_cast<const unsigned char*>(only_h2.data()),
                          static_cast<unsigned>(only_h2.size()));
  try {
    connect(server.port());
    ADD_FAILURE() << "the handshake went through";
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(ERR_GET_REASON(static_cast<unsigned long>(error.code().value())),
              SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL);
  }
  const std::string both = "\x02h2\x08http/1.1";
  SSL_CTX_set_alpn_protos(context.native_handle(), reinterpret_cast<const unsigned char*>(both.data()),
                          static_cast<unsigned>(both.size()));
  const auto stream = connect(server.port());
  asio::write(*stream, asio::buffer(std::string("GET /whoami HTTP/1.1\r\nHost: test\r\n\r\n")));
  EXPECT_THAT(read_until(*stream, "-01"), testing::HasSubstr(" https "));
}

TEST_F(Tls, event_streams_work) {
  TestServer server(config);
  const auto stream = connect(server.port());
  asio::write(*stream, asio::buffer(std::string("GET /events/a HTTP/1.1\r\nHost: test\r\n\r\n")));
  read_until(*stream, "retry: 2000\n\n");
  server.hub().publish("a", {.data = "1"});
  server.hub().publish("a", {.data = "2"});
  EXPECT_EQ(read_until(*stream, "data: 2\n\n"), "data: 1\n\ndata: 2\n\n");
  server.hub().drain();
  EXPECT_EQ(read_until(*stream, "\n\n"), "event: RECONNECT\ndata: {}\n\n");
}

TEST_F(Tls, plain_requests_end_quietly) {
  const TestServer server(config);
  RawClient client(server.port());
  client.try_send("GET /hello HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), testing::Not(testing::HasSubstr("HTTP/1.1 200")));
}

// The common name of whom the client is connected to.
std::string peer_name(ssl::stream<Tcp::socket>& stream) {
  X509* const certificate = SSL_get1_peer_certificate(stream.native_handle());
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(), name.size());
  X509_free(certificate);
  return name.data();
}

TEST_F(Tls, a_new_certificate_is_used_without_dropping_a_connection) {
  TestServer server(config, 2);
  const auto before = connect(server.port());
  EXPECT_EQ(peer_name(*before), "localhost");
  write_certificate(config.tls_certificate, config.tls_key, "renewed");
  server.server().reload_certificate();
  context.load_verify_file(config.tls_certificate);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(peer_name(*connect(server.port())), "renewed");
  asio::write(*before, asio::buffer(std::string("GET /whoami HTTP/1.1\r\nHost: test\r\n\r\n")));
  EXPECT_THAT(read_until(*before, "-01"), testing::HasSubstr(" https "));
}

TEST_F(Tls, a_bad_file_keeps_the_certificate_that_is_there) {
  TestServer server(config);
  const std::string other = (folder.path() / "other.pem").string();
  write_certificate(other, config.tls_key, "renewed");  // a key that is not the certificate's
  server.server().reload_certificate();
  EXPECT_EQ(peer_name(*connect(server.port())), "localhost");
  std::filesystem::remove(config.tls_certificate);
  server.server().reload_certificate();
  EXPECT_EQ(peer_name(*connect(server.port())), "localhost");
}

// RSA, while the certificates are of elliptic curves.
void write_other_kind_of_key(const std::string& file) {
  EVP_PKEY* const key = EVP_RSA_gen(2048);
  FILE* const out = std::fopen(file.c_str(), "w");
  PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(out);
  EVP_PKEY_free(key);
}

TEST_F(Tls, a_key_of_another_kind_keeps_the_certificate_that_is_there) {
  TestServer server(config);
  write_other_kind_of_key(config.tls_key);
  server.server().reload_certificate();
  EXPECT_EQ(peer_name(*connect(server.port())), "localhost");
}

TEST_F(Tls, a_server_does_not_start_with_a_key_of_another_kind) {
  write_other_kind_of_key(config.tls_key);
  EXPECT_THROW(TestServer{config}, std::invalid_argument);
}

TEST_F(Tls, a_missing_file_is_named) {
  config.tls_key = "/nowhere/key.pem";
  EXPECT_THROW(
      {
        try {
          const TestServer server(config);
        } catch (const std::invalid_argument& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("/nowhere/key.pem"));
          throw;
        }
      },
      std::invalid_argument);
}

}  // namespace
}  // namespace sluice::test
