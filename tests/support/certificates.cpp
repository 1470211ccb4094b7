#include "tests/support/certificates.h"

#include "tests/support/process.h"

namespace sluice::test {
namespace {

// Makes a key and its certificate; `more` has the names in it and its issuer.
void make_certificate(const std::string& name, const std::string& key, const std::string& certificate,
                      const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "openssl",  "req",         "-x509",   "-newkey",  "ec",
      "-nodes",   "-days",       "2",       "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-subj",    "/CN=" + name, "-keyout", key,        "-out",
      certificate};
  arguments.insert(arguments.end(), more.begin(), more.end());
  run_program({.arguments = std::move(arguments)});
}

}  // namespace

Certificates::Certificates() {
  make_certificate("Test CA", file("ca.key"), file("ca.pem"), {});
  make("here", "DNS:localhost,IP:127.0.0.1");
  make("elsewhere", "DNS:example.com");
}

void Certificates::make(const std::string& name, const std::string& names) const {
  make_certificate(name, file(name + ".key"), file(name + ".pem"),
                   {"-addext", "subjectAltName=" + names, "-CA", file("ca.pem"), "-CAkey", file("ca.key")});
}

}  // namespace sluice::test
