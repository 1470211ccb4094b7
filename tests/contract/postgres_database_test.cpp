#include "tests/contract/database_tables.h"
#include "tests/contract/migrations_suite.h"
#include "tests/contract/postgres_engines.h"

namespace sluice::test {

INSTANTIATE_TEST_SUITE_P(Postgres, DatabaseContract, testing::ValuesIn(postgres_engines()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, MigrationsContract, testing::ValuesIn(postgres_engines()), engine_name);

}  // namespace sluice::test
