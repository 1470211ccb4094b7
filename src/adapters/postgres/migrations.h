// The schemas of all services: migrations/SCHEMA/*.sql, compiled in.
#pragma once

#include <vector>

#include "adapters/sql/driver/migrations.h"

namespace sluice::postgres {

// One set per service's schema.
const std::vector<sql::MigrationSet>& migrations();

}  // namespace sluice::postgres
