#include "adapters/postgres/scram_secret.h"

#include <memory>

#include <libpq-fe.h>

#include "base/check.h"

namespace sluice::postgres {

std::string scram_secret(const std::string& user, const std::string& password) {
  // libpq wants a connection to write its errors to; one with a bad option stays unconnected.
  const std::unique_ptr<PGconn, decltype(&PQfinish)> nowhere(PQconnectStart("no_such_option=1"), &PQfinish);
  const std::unique_ptr<char, decltype(&PQfreemem)> secret(
      PQencryptPasswordConn(nowhere.get(), password.c_str(), user.c_str(), "scram-sha-256"), &PQfreemem);
  check(secret != nullptr, "hashing a password for SCRAM failed");
  return secret.get();
}

}  // namespace sluice::postgres
