// PostgreSQL 15 to 18 as a database for stores, also behind PgBouncer in transaction mode.
//
// Small reads and writes of many callers share few connections and commits; transactions have a connection to
// themselves while they run. While the server is down calls fail at once with EngineUnavailable; when it is back,
// everything recovers by itself. A call whose caller is cancelled returns at once, except a transaction that has begun.
//
// Bodies of transactions run on the engine thread.
#pragma once

#include <memory>
#include <optional>

#include "adapters/postgres/engine_thread.h"
#include "adapters/postgres/postgres_config.h"
#include "adapters/sql/driver/database.h"
#include "runtime/clock.h"

namespace sluice::postgres {

class Dispatcher;

class PostgresDatabase : public sql::Database {
 public:
  // Starts connecting; whether the server answers shows with the first call. `thread` and `clock` must outlive it.
  PostgresDatabase(PostgresConfig config, EngineThread& thread, Clock& clock);
  // Aborts running calls. Not on the engine thread.
  ~PostgresDatabase() override;

  sql::Dialect dialect() const override { return sql::Dialect::postgres; }
  Task<sql::Rows> read(sql::Statement statement, sql::Params params = {}) override;
  // From the replica where there is one; from the primary while that one is down.
  Task<sql::Rows> read_relaxed(sql::Statement statement, sql::Params params = {}) override;
  Task<sql::Rows> write(sql::Statement statement, sql::Params params = {}) override;

 protected:
  Task<> run(const Body& body) override;

 private:
  const PostgresConfig config_;
  const PostgresConfig replica_config_;
  EngineThread& thread_;
  std::unique_ptr<Dispatcher> primary_;
  std::unique_ptr<Dispatcher> replica_;  // null: none is configured
};

}  // namespace sluice::postgres
