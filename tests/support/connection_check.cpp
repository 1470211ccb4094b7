#include "tests/support/connection_check.h"

#include <memory>
#include <stdexcept>

#include <libpq-fe.h>

namespace sluice::test {

void check_connects(const std::string& url, const std::string& user, const std::string& password) {
  const char* names[] = {"dbname", "user", "password", "connect_timeout", nullptr};
  const char* values[] = {url.c_str(), user.c_str(), password.c_str(), "60", nullptr};
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdbParams(names, values, 1), &PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), "SELECT 1"), &PQclear);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(connection.get()));
}

}  // namespace sluice::test
