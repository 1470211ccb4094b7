// A session of a test's own at PostgreSQL, which keeps its transaction open between statements.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include "tests/support/postgres_server.h"

namespace sluice::test {

class LockSession {
 public:
  explicit LockSession(const PostgresServer& server) {
    const std::string url = server.url();
    const char* names[] = {"dbname", "user", "password", nullptr};
    const char* values[] = {url.c_str(), server.user().c_str(), server.password().c_str(), nullptr};
    pg_.reset(PQconnectdbParams(names, values, 1));
  }

  void execute(const std::string& text) const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(pg_.get(), text.c_str()), PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(PQerrorMessage(pg_.get()));
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> pg_{nullptr, PQfinish};
};

}  // namespace sluice::test
