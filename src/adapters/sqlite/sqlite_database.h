// The embedded database: one SQLite file in the data folder, owned by this process.
//
// Writes of all callers share commits (Writer); reads go beside them (Readers); acknowledged means on the disk. Opening
// brings the file's schema up to date. State that lives in memory is journaled in the same commits.
#pragma once

#include <memory>

#include "adapters/sql/driver/database.h"
#include "adapters/sql/driver/migrations.h"
#include "adapters/sqlite/migrations.h"
#include "adapters/sqlite/sqlite_config.h"
#include "coordination/journal.h"
#include "runtime/clock.h"

namespace sluice::sqlite {

class LogAppender;

class SqliteDatabase final : public sql::Database {
 public:
  // Blocks until the file is open and migrated; for the start of a program. Throws EngineUnavailable or MigrationError
  // with one sentence for the operator.
  SqliteDatabase(const SqliteOptions& options, const Clock& clock,
                 const sql::MigrationSet& schema = migrations().front());
  // Finishes the accepted calls. The executors of the callers must still exist.
  ~SqliteDatabase() override;

  sql::Dialect dialect() const override { return sql::Dialect::sqlite; }
  Task<sql::Rows> read(sql::Statement statement, sql::Params params = {}) override;
  Task<sql::Rows> write(sql::Statement statement, sql::Params params = {}) override;

  // Whether reads are answered and writes reach the disk. Writes something only where the last commit failed (a full
  // disk, say): nothing else may write meanwhile. Throws EngineUnavailable where not.
  Task<> reach();

  // Lives as long as the database; not for visitors. The first call reads the file's content and blocks meanwhile: for
  // the start of a program.
  coordination::Journal& journal();

  // For EmbeddedLog; as long as the database.
  LogAppender& log_appender();

 protected:
  Task<> run(const Body& body) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::sqlite
