#include "adapters/sqlite/sqlite_database.h"
#include "runtime/system_clock.h"
#include "tests/contract/api_key_store_suite.h"
#include "tests/contract/audit_log_suite.h"
#include "tests/contract/denial_records_suite.h"
#include "tests/contract/user_store_suite.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

class OpenSqlite : public OpenDatabase {
 public:
  explicit OpenSqlite(size_t max_waiting)
      : database_({.folder = folder_.path(), .max_unanswered_writes = max_waiting}, clock_) {}
  sql::Database& database() override { return database_; }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  sqlite::SqliteDatabase database_;
};

const DatabaseEngine engine{.name = "sqlite",
                            .open = [](asio::io_context&, size_t max) { return std::make_unique<OpenSqlite>(max); }};
const auto sqlite = testing::Values(engine);

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, ApiKeyStoreContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, AuditLogContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, DenialRecordsContract, sqlite);
INSTANTIATE_TEST_SUITE_P(Sqlite, UserStoreContract, sqlite);

}  // namespace sluice::test
