// The embedded file's schema: migrations/*.sql, compiled in.
#pragma once

#include <vector>

#include "adapters/sql/driver/migrations.h"

namespace sluice::sqlite {

// The one set there is.
const std::vector<sql::MigrationSet>& migrations();

}  // namespace sluice::sqlite
