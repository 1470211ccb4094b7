#include "adapters/sql/coordination/sql_denial_records.h"
#include "tests/contract/api_key_store_suite.h"
#include "tests/contract/denial_records_suite.h"
#include "tests/contract/sql_audit_log.h"
#include "tests/contract/sqlite_engine.h"
#include "tests/contract/user_store_suite.h"

namespace sluice::test {
namespace {

const DatabaseEngine engine = sqlite_engine();
const auto sqlite = testing::Values(engine);
const auto audit_logs = testing::ValuesIn(audit_logs_in_sql({engine}));
const auto denial_records = testing::ValuesIn(in_sql<coordination::DenialRecords, sql::SqlDenialRecords>({engine}));

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, ApiKeyStoreContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, AuditLogContract, audit_logs, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, DenialRecordsContract, denial_records, port_engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, UserStoreContract, sqlite);

}  // namespace sluice::test
