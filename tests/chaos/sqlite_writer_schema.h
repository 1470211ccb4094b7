// The tables that sqlite_writer fills and sqlite_kill_test looks at.
#pragma once

#include "adapters/sql/driver/migrations.h"

namespace sluice::test {

inline sql::MigrationSet writer_schema() {
  return {"main",
          {{1, "written",
            "CREATE TABLE written (number INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;\n\n"
            "CREATE TABLE paired (number INTEGER PRIMARY KEY) STRICT;\n"}}};
}

}  // namespace sluice::test
