// Prepares a PostgreSQL for Sluice; used by `sluice migrate`.
//
// Every service has its own schema and login, both with the service's name, and no rights on the others'. The
// administrator creates them; each service's migrations then run as that service, so that it owns its tables. Repeating
// it is harmless, also concurrently from several machines; it also updates passwords and limits to the configured ones.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/engine_thread.h"
#include "adapters/postgres/postgres_config.h"
#include "adapters/sql/driver/migrations.h"
#include "runtime/clock.h"

namespace sluice::postgres {

// Services that may have a schema. `sluice migrate` creates those of the program (server/services.h); snapshot_service
// has tables for tests of coalescing and day budgets, and the others have none yet.
inline constexpr std::array<std::string_view, 9> service_names = {
    "user_service", "event_service",    "queue_service", "reservation_service", "payment_service", "document_service",
    "job_service",  "snapshot_service", "common"};

// Has the outbox of its database, and relays log in as it. Every other service of the database may append to the
// outbox, by one function, and may do nothing else there.
inline constexpr std::string_view common_service = "common";

// A role without login that may read documents and slots, for the operator to grant (GRANT document_reader TO analyst).
// The schema's migrations define its rights.
inline constexpr std::string_view document_reader = "document_reader";

struct ServiceLogin {
  std::string name;
  std::string password;
};

struct SetupConfig {
  // An administrator that may create roles and schemas; a pooler in between is fine.
  PostgresConfig admin;
  std::vector<ServiceLogin> services;
  // Become settings of the services' roles, because a transaction pooler passes no others on.
  Duration statement_timeout = 10s;
  Duration lock_timeout = 5s;
};

struct AppliedMigrations {
  std::string schema;
  std::vector<int> numbers;
};

// `thread` and `clock` must outlive it. For one call at a time.
class PostgresSetup {
 public:
  PostgresSetup(SetupConfig config, EngineThread& thread, Clock& clock);

  // Creates roles and schemas. Exceptions of the database pass through.
  Task<> create_services();

  // Brings `sets` up to date, each as the service that owns its schema, and returns the applied migrations.
  Task<std::vector<AppliedMigrations>> migrate(std::vector<sql::MigrationSet> sets);

 private:
  std::vector<std::string> other_services() const;

  SetupConfig config_;
  EngineThread& thread_;
  Clock& clock_;
};

}  // namespace sluice::postgres
