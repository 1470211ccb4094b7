#include "tests/contract/import_ends_suite.h"
#include "tests/contract/import_store_suite.h"
#include "tests/contract/job_remains_suite.h"
#include "tests/contract/link_store_suite.h"
#include "tests/contract/sql_blocked_domains.h"
#include "tests/contract/sqlite_engine.h"

namespace sluice::test {

const auto engines = testing::Values(sqlite_engine());
const auto blocked_domains = testing::ValuesIn(blocked_domains_in_sql({sqlite_engine()}));

INSTANTIATE_TEST_SUITE_P(Sqlite, ImportStoreContract, engines);
INSTANTIATE_TEST_SUITE_P(Sqlite, ImportEndsContract, engines);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobRemainsContract, engines);
INSTANTIATE_TEST_SUITE_P(Sqlite, LinkStoreContract, engines);
INSTANTIATE_TEST_SUITE_P(Sqlite, BlockedDomainsContract, blocked_domains, port_engine_name);

}  // namespace sluice::test
