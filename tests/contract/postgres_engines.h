// PostgreSQL in its forms, for contract suites: Debian's, behind PgBouncer in transaction mode, and version 18.
//
//   INSTANTIATE_TEST_SUITE_P(Postgres, SomeContract, testing::ValuesIn(postgres_engines()), engine_name);
//
// The servers start with the first test that needs them and serve the whole program.
#pragma once

#include "adapters/postgres/postgres_database.h"
#include "adapters/postgres/postgres_setup.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/pgbouncer_server.h"

namespace sluice::test {

// The whole program's server of that version, and the pooler in front of version 15.
PostgresServer& shared_postgres(int version = 15);
PgBouncerServer& shared_pgbouncer();

// How to log in as the server's administrator.
postgres::PostgresConfig postgres_config(const PostgresServer& server);

// The setup of `sluice migrate`, with the passwords of the services.
postgres::SetupConfig service_setup(const PostgresServer& server);
std::string service_password(std::string_view service);

// The available ones; PostgresEngines tests report the others.
std::vector<DatabaseEngine> postgres_engines();

// The same, prepared by PostgresSetup and logged in as `service`, as for a store.
std::vector<DatabaseEngine> postgres_service_engines(std::string service);

inline std::string engine_name(const testing::TestParamInfo<DatabaseEngine>& info) {
  return info.param.name;
}

}  // namespace sluice::test
