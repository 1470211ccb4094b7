// The databases of an installation, opened.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "adapters/postgres/engine_thread.h"
#include "adapters/sql/database.h"
#include "api/system_routes.h"
#include "runtime/clock.h"
#include "server/settings.h"

namespace sluice::server {

class Engines {
 public:
  // Beside an owner: the command line, also next to a running server.
  enum class Access { owner, beside_owner };

  // Opens what the roles need. Throws EngineUnavailable with one sentence for the operator.
  Engines(const Settings& settings, const Roles& roles, Clock& clock, Access access = Access::owner);

  sql::Database& of(Service service) const { return *databases_.at(service); }

  // One for each engine, for /readyz.
  std::vector<api::EngineProbe> probes() const;

 private:
  std::unique_ptr<postgres::EngineThread> thread_;
  std::map<Service, std::shared_ptr<sql::Database>> databases_;
};

}  // namespace sluice::server
