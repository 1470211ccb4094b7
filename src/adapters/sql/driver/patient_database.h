// A database for loops that run while it is being migrated.
//
// A server may be newer than its database, until `sluice migrate` has run: tables or columns named by its statements do
// not exist yet. Elsewhere a refused statement is a bug. A background loop waits, as for an unavailable database, and
// logs the fix.
#pragma once

#include "adapters/sql/driver/database.h"

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
