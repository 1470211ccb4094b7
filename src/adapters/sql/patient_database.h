// A database for loops that run while somebody else migrates it.
//
// A server may be newer than its database, for as long as `sluice migrate` has not run: tables or columns that its
// statements name are not there yet. Elsewhere a refused statement is a mistake of ours. A background loop waits, as it
// does for a database that is away, and says what to do.
#pragma once

#include "adapters/sql/database.h"

namespace sluice::sql {

// Throws EngineUnavailable where the other throws StatementError. As safe as that one, which outlives it.
class PatientDatabase final : public Database {
 public:
  explicit PatientDatabase(Database& database) : database_(database) {}

  Dialect dialect() const override { return database_.dialect(); }
  Task<Rows> read(Statement statement, Params params = {}) override;
  Task<Rows> read_relaxed(Statement statement, Params params = {}) override;
  Task<Rows> write(Statement statement, Params params = {}) override;

 protected:
  Task<> run(const Body& body) override;

 private:
  Database& database_;
};

}  // namespace sluice::sql
