#include "http/tls.h"

#include <ctime>
#include <stdexcept>

#include <fmt/chrono.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace sluice::http {
namespace {

namespace ssl = boost::asio::ssl;

constexpr unsigned char spoken[] = "\x08http/1.1\x08http/1.0";

// A client that offers only other protocols is refused: the server would not understand it (RFC 7301 3.2).
int select_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, size, spoken, sizeof spoken - 1, offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

std::shared_ptr<ssl::context> make_tls_context(const std::string& certificate, const std::string& key) {
  if (certificate.empty() && key.empty()) return nullptr;
  if (certificate.empty() || key.empty()) {
    throw std::invalid_argument("http: TLS needs both tls_certificate and tls_key");
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 |
                       ssl::context::no_compression);
  // Idle connections are many: OpenSSL need not keep 34 KB of buffers for each.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), select_protocol, nullptr);
  boost::system::error_code failed;
  context->use_certificate_chain_file(certificate, failed);
  if (failed) throw std::invalid_argument("http.tls_certificate: " + certificate + ": " + failed.message());
  context->use_private_key_file(key, ssl::context::pem, failed);
  if (failed) throw std::invalid_argument("http.tls_key: " + key + ": " + failed.message());
  // OpenSSL accepts a key of another kind than the certificate's and would then serve neither.
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    throw std::invalid_argument("http.tls_key: " + key + " does not belong to the certificate in " + certificate);
  }
  return context;
}

std::string expiry_of(ssl::context& context) {
  std::tm expiry{};
  ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context.native_handle())), &expiry);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", expiry);
}

}  // namespace sluice::http
