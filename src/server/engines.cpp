#include "server/engines.h"

#include <set>

#include "adapters/postgres/postgres_database.h"
#include "adapters/sqlite/sqlite_database.h"

namespace sluice::server {
namespace {

Task<> ask_for_one(std::shared_ptr<sql::Database> database) {
  co_await database->read("SELECT 1");
}

}  // namespace

Engines::Engines(const Settings& settings, const Roles& roles, Clock& clock, Access access) {
  if (!settings.postgres.used()) {
    sqlite::SqliteOptions options = settings.sqlite;
    options.folder = settings.storage.data;
    options.may_visit = access == Access::beside_owner;
    const auto shared = std::make_shared<sqlite::SqliteDatabase>(options, clock);
    for (const Service service : roles) databases_.emplace(service, shared);
    return;
  }
  thread_ = std::make_unique<postgres::EngineThread>();
  for (const Service service : roles) {
    const postgres::PostgresConfig config = settings.postgres.of(service);
    databases_.emplace(service, std::make_shared<postgres::PostgresDatabase>(config, *thread_, clock));
  }
}

std::vector<api::EngineProbe> Engines::probes() const {
  std::vector<api::EngineProbe> probes;
  std::set<const sql::Database*> seen;
  for (const auto& [service, database] : databases_) {
    if (!seen.insert(database.get()).second) continue;
    const bool embedded = database->dialect() == sql::Dialect::sqlite;
    const std::string name = embedded ? "sqlite" : "postgres/" + std::string(names(service).schema);
    probes.push_back({name, [database] { return ask_for_one(database); }});
  }
  return probes;
}

}  // namespace sluice::server
