#include "tests/contract/api_key_store_suite.h"
#include "tests/contract/audit_log_suite.h"
#include "tests/contract/denial_records_suite.h"
#include "tests/contract/postgres_engines.h"
#include "tests/contract/user_store_suite.h"

namespace sluice::test {
namespace {

const auto user_service = testing::ValuesIn(postgres_service_engines("user_service"));

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, ApiKeyStoreContract, user_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, AuditLogContract, user_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DenialRecordsContract, user_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, UserStoreContract, user_service, engine_name);

}  // namespace sluice::test
