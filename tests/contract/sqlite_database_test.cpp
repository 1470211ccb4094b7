#include "adapters/sqlite/sqlite_database.h"

#include "runtime/system_clock.h"
#include "tests/contract/database_tables.h"
#include "tests/contract/migrations_suite.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {
namespace {

class OpenSqlite : public OpenDatabase {
 public:
  explicit OpenSqlite(size_t max_waiting)
      : database_({.folder = folder_.path(), .max_unanswered_writes = max_waiting}, clock_, {"main", {}}) {}
  sql::Database& database() override { return database_; }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  sqlite::SqliteDatabase database_;
};

const DatabaseEngine sqlite_engine{
    .name = "sqlite", .open = [](asio::io_context&, size_t max) { return std::make_unique<OpenSqlite>(max); }};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, DatabaseContract, testing::Values(sqlite_engine));
INSTANTIATE_TEST_SUITE_P(Sqlite, MigrationsContract, testing::Values(sqlite_engine));

}  // namespace sluice::test
