// SQL text, once for both engines where it can be.
//
// Parameters are written $1, $2, ... in both. `now()` is the engine's clock in both: timestamptz in PostgreSQL,
// microseconds since 1970 in SQLite. Where the dialects differ, a text names a fragment (sql_text.h):
//
//   constexpr Statement claim = "SELECT ... LIMIT $1 @lock(FOR UPDATE SKIP LOCKED)"_sql;
#pragma once

#include <string_view>

namespace sluice::sql {

enum class Dialect { postgres, sqlite };

struct Statement {
  // One text for both.
  constexpr Statement(std::string_view text) : postgres(text), sqlite(text) {}
  constexpr Statement(const char* text) : Statement(std::string_view(text)) {}
  struct PerDialect {
    std::string_view postgres;
    std::string_view sqlite;
  };
  constexpr Statement(PerDialect texts) : postgres(texts.postgres), sqlite(texts.sqlite) {}

  constexpr std::string_view text(Dialect dialect) const { return dialect == Dialect::postgres ? postgres : sqlite; }

  // Texts are constants of the program: a Statement refers to them and owns nothing.
  std::string_view postgres;
  std::string_view sqlite;
};

}  // namespace sluice::sql
