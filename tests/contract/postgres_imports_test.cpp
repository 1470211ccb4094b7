#include "tests/contract/import_ends_suite.h"
#include "tests/contract/import_store_suite.h"
#include "tests/contract/job_remains_suite.h"
#include "tests/contract/link_store_suite.h"
#include "tests/contract/postgres_engines.h"
#include "tests/contract/sql_blocked_domains.h"

namespace sluice::test {

const auto engines = testing::ValuesIn(postgres_service_engines("job_service"));
const auto blocked_domains = testing::ValuesIn(blocked_domains_in_sql(postgres_service_engines("job_service")));

INSTANTIATE_TEST_SUITE_P(Postgres, ImportStoreContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ImportEndsContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobRemainsContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LinkStoreContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, BlockedDomainsContract, blocked_domains, port_engine_name);

}  // namespace sluice::test
