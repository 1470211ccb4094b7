#include "adapters/sqlite/errors.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "adapters/sql/driver/database.h"

namespace sluice::sqlite {
namespace {

// "UNIQUE constraint failed: seats.event, seats.number" names the columns after the colon; a foreign key is not named.
std::string after_colon(std::string_view message) {
  const size_t colon = message.find(": ");
  return std::string(colon == std::string_view::npos ? message : message.substr(colon + 2));
}

[[noreturn]] void throw_constraint(int code, std::string_view message, std::string_view doing) {
  using Kind = sql::ConstraintViolation::Kind;
  switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: throw sql::ConstraintViolation(Kind::unique, after_colon(message));
    case SQLITE_CONSTRAINT_FOREIGNKEY: throw sql::ConstraintViolation(Kind::foreign_key, after_colon(message));
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_TRIGGER: throw sql::ConstraintViolation(Kind::check, after_colon(message));
    case SQLITE_CONSTRAINT_NOTNULL: throw sql::ConstraintViolation(Kind::not_null, after_colon(message));
    default: throw sql::StatementError(fmt::format("sqlite: {} in: {}", message, doing));
  }
}

}  // namespace

void throw_error(int code, std::string_view message, std::string_view doing) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT: throw_constraint(code, message, doing);
    // The statement or its parameters are wrong.
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
    case SQLITE_MISUSE:
    case SQLITE_READONLY: throw sql::StatementError(fmt::format("sqlite: {} in: {}", message, doing));
    case SQLITE_INTERRUPT: throw DeadlineExceeded("sqlite");
    // The file is damaged or is no database: time does not mend it.
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw EngineUnavailable("sqlite", fmt::format("{} ({})", message, doing), EngineUnavailable::Retryable::no);
    // Busy, disk full, I/O error, out of memory: nothing has happened, and later it may work.
    default: throw EngineUnavailable("sqlite", fmt::format("{} ({})", message, doing));
  }
}

}  // namespace sluice::sqlite
