// The schema, brought up to date.
//
// Migrations are numbered SQL files, NNNN_name.sql, compiled into the program (cmake/migrations.cmake). They only go
// forward: an applied migration is recorded with its checksum and never changes. In a file every statement ends with
// ';' at the end of a line, followed by an empty line or the file's end; that separates them (both engines take one
// statement at a time, and refuse two loudly).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sql/driver/database.h"

namespace sluice::sql {

struct Migration {
  int number;
  std::string_view name;
  std::string_view text;
};

// Migrations 1, 2, 3, ... of one schema. Texts are constants of the program.
struct MigrationSet {
  // PostgreSQL's schema, which must exist; SQLite has only one.
  std::string_view schema;
  std::vector<Migration> migrations;
};

// One sentence with the conflict: a migration that was changed after it was applied, is missing in between, or is
// unknown to this program.
class MigrationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Applies missing migrations, each in its own transaction, and returns their numbers. Safe when several processes start
// at once: one applies, the others find it done. On PostgreSQL the tables belong to the login that runs it, so that is
// the service's own. Throws MigrationError, or the exception of a migration's statement.
Task<std::vector<int>> migrate(Database& database, MigrationSet set);

// A migration's text as single statements.
std::vector<std::string_view> split_statements(std::string_view text);

}  // namespace sluice::sql
