// SQLite for the contract suites: a file of its own for each test.
#pragma once

#include "adapters/sqlite/sqlite_database.h"
#include "runtime/system_clock.h"
#include "tests/contract/database_fixture.h"
#include "tests/support/temporary_folder.h"

namespace sluice::test {

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

inline DatabaseEngine sqlite_engine() {
  return {.name = "sqlite",
          .open = [](asio::io_context&, size_t max_waiting) { return std::make_unique<OpenSqlite>(max_waiting); }};
}

}  // namespace sluice::test
