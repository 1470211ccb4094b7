#include "adapters/sql/coordination/sql_denial_records.h"
#include "tests/contract/api_key_store_suite.h"
#include "tests/contract/denial_records_suite.h"
#include "tests/contract/postgres_engines.h"
#include "tests/contract/sql_audit_log.h"
#include "tests/contract/user_store_suite.h"

namespace sluice::test {
namespace {

const auto user_service = testing::ValuesIn(postgres_service_engines("user_service"));
const auto audit_logs = testing::ValuesIn(audit_logs_in_sql(postgres_service_engines("user_service")));
const auto denial_records = testing::ValuesIn(
    in_sql<coordination::DenialRecords, sql::SqlDenialRecords>(postgres_service_engines("user_service")));

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, ApiKeyStoreContract, user_service, engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, AuditLogContract, audit_logs, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, DenialRecordsContract, denial_records, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, UserStoreContract, user_service, engine_name);

}  // namespace sluice::test
