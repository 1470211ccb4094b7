// A PostgreSQL made ready for Sluice: what `sluice migrate` does.
//
// Every service has a schema and a login of its own, both with the service's name, and no right on the others'. The
// administrator makes them; each service's migrations then run as that service, so that it owns its tables. Repeating
// it is harmless, also at the same time from several machines; it also changes passwords and limits to what is
// configured.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/engine_thread.h"
#include "adapters/postgres/postgres_config.h"
#include "adapters/sql/migrations.h"
#include "runtime/clock.h"

namespace sluice::postgres {

inline constexpr std::array<std::string_view, 9> service_names = {
    "user_service", "event_service",    "queue_service", "reservation_service", "payment_service", "document_service",
    "job_service",  "snapshot_service", "common"};

// Has the outbox of its database, and relays log in as it. Every other service of the database may append to the
// outbox, by one function, and may do nothing else there.
inline constexpr std::string_view common_service = "common";

// Who may read documents and slots beside the service that writes them: a role without login, for the operator to grant
// (GRANT document_reader TO analyst). The schema's migrations say what it may see.
inline constexpr std::string_view document_reader = "document_reader";

struct ServiceLogin {
  std::string name;
  std::string password;
};

struct SetupConfig {
  // Who may create roles and schemas, and where; a pooler in between is fine.
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

  // Roles and schemas. Throws what the database throws.
  Task<> create_services();

  // Brings `sets` up to date, each as the service whose schema it is, and says what was applied.
  Task<std::vector<AppliedMigrations>> migrate(std::vector<sql::MigrationSet> sets);

 private:
  std::vector<std::string> other_services() const;

  SetupConfig config_;
  EngineThread& thread_;
  Clock& clock_;
};

}  // namespace sluice::postgres
