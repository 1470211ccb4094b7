// The embedded database: one SQLite file in the data folder, owned by this process.
//
// Writes of all callers share commits (Writer); reads go beside them (Readers); acknowledged means on the disk. Opening
// brings the file's schema up to date.
#pragma once

#include <filesystem>

#include "adapters/sql/database.h"
#include "adapters/sql/migrations.h"
#include "adapters/sqlite/migrations.h"
#include "runtime/clock.h"
#include "runtime/config_fwd.h"

namespace sluice::sqlite {

struct SqliteOptions {
  // Holds sluice.db with its WAL, and owner.lock. Made if it is missing.
  std::filesystem::path folder;
  // Where another process owns the folder, work beside it instead of being refused: for the command line next to a
  // running server. A visitor writes under the file's own locks, which is safe for records, and neither migrates nor
  // checkpoints.
  bool may_visit = false;
  unsigned readers = 4;
  // Writes that are queued or being committed; one more is refused with Overloaded.
  size_t max_unanswered_writes = 10'000;
  // Reads that wait for one of the readers; one more is refused with Overloaded.
  size_t max_waiting_reads = 10'000;
  // A read that takes longer ends with DeadlineExceeded, so that a few bad ones cannot hold all readers.
  Duration read_time_limit = 10s;

  static void describe(config::Section<SqliteOptions>& section);
};

class SqliteDatabase final : public sql::Database {
 public:
  // Blocks until the file is open and migrated; for the start of a program. Throws EngineUnavailable or MigrationError
  // with one sentence for the operator.
  SqliteDatabase(const SqliteOptions& options, const Clock& clock,
                 const sql::MigrationSet& schema = migrations().front());
  // Finishes what was accepted. The executors of the callers must still be there.
  ~SqliteDatabase() override;

  sql::Dialect dialect() const override { return sql::Dialect::sqlite; }
  Task<sql::Rows> read(sql::Statement statement, sql::Params params = {}) override;
  Task<sql::Rows> write(sql::Statement statement, sql::Params params = {}) override;

 protected:
  Task<> run(const Body& body) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::sqlite
