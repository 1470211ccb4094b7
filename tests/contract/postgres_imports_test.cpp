#include "tests/contract/import_ends_suite.h"
#include "tests/contract/import_store_suite.h"
#include "tests/contract/job_remains_suite.h"
#include "tests/contract/link_store_suite.h"
#include "tests/contract/postgres_engines.h"

namespace sluice::test {

const auto engines = testing::ValuesIn(postgres_service_engines("job_service"));

INSTANTIATE_TEST_SUITE_P(Postgres, ImportStoreContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ImportEndsContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, JobRemainsContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LinkStoreContract, engines, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, BlockedDomainsContract, engines, engine_name);

}  // namespace sluice::test
